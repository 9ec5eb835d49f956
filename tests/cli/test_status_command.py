"""`status`: everything at a glance, and whether the watchdog is running."""

from cli.place import Place


def test_every_pipeline_is_a_row_that_fits(lived_in: Place) -> None:
    shown = lived_in.shown("status")
    lines = shown.splitlines()
    assert lines[0].split() == ["PIPELINE", "DATE", "STATE", "TODAY", "NEXT", "DEADLINE"]
    # late in the day the next moment has a date of its own, and long names are folded
    orders = next(line for line in lines if line.startswith("silver-"))
    assert orders.split()[1:3] == [lived_in.today, "done"]
    assert orders.rstrip().endswith("met")
    assert "no reading of x" in shown
    assert lines[-1].startswith("watchdog: last good pass ")


def test_times_are_in_the_pipelines_zone(lived_in: Place) -> None:
    gold = next(line for line in lived_in.shown("status").splitlines() if "gold-" in line)
    assert " CET" in gold or " CEST" in gold


def test_in_a_pipe_a_row_is_a_line(lived_in: Place) -> None:
    result = lived_in.run("status", COLUMNS="")
    (gold,) = [line for line in result.stdout.splitlines() if line.startswith("gold-report")][:1]
    assert gold.startswith("gold-report-with-a-rather-long-name-for-a-table ")
    assert "waiting" in gold


def test_the_document_holds_pipelines_and_watchdog(lived_in: Place) -> None:
    document = lived_in.json("status")
    gold, orders = document["pipelines"]
    assert orders["id"] == "silver-orders" and orders["status"] == "COMPLETED"
    assert orders["slaVerdict"] == "MET" and orders["timezone"] == "UTC"
    assert gold["blockedBy"] == ["no reading of x"]
    assert document["watchdog"]["isLate"] is False
    assert document["watchdog"]["everySeconds"] == 300


def test_a_watchdog_that_sleeps_is_a_problem(place: Place) -> None:
    shown = " ".join(place.shown("status", code=1).split())
    assert "last good pass 2h " in shown and "interlock serve" in shown
    assert place.json("status", code=1)["watchdog"]["isLate"] is True


def test_a_paused_pipeline_says_so_and_how_to_go_on(place: Place) -> None:
    place.shown("pause", "silver-orders")
    shown = place.shown("status", code=1)
    assert " paused " in shown
    assert "interlock resume silver-orders" in shown


def test_a_run_that_waits_says_for_what(place: Place) -> None:
    place.put(count=940)
    assert "orders.count is 940, needs >= 1000" in place.shown("status", code=1)


def test_reasons_that_are_left_out_are_counted(place: Place) -> None:
    rules = ", ".join(f"{{key: orders, check: gte, field: f{n}, value: 1}}" for n in range(5))
    place.declare(
        "pipeline: {id: many}\nschedule: {trigger: {key: orders, check: exists}}\n"
        f"validation: {{rules: [{rules}]}}\njob: {{type: command, config: {{command: ['true']}}}}"
    )
    place.put(pipeline="many", other=1)
    shown = " ".join(place.shown("status", code=1).split())
    assert f"many {place.today}: and 2 more reasons; `interlock why many` shows all" in shown
