"""What only a shell would act on is found, as far as no shell reads it."""

import shlex

import pytest
from file_samples import job_text, pipeline_text, warnings
from hypothesis import given
from hypothesis import strategies as st

from interlock.files import load_text
from interlock.files.shell_marks import marks, words_of_line, words_of_list


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("etl --day ${DATE}", []),
        ("echo hello | tee f", ["|"]),
        ("etl > out.log", [">"]),
        ("etl 2>&1", [">"]),
        ("etl < in.csv", ["<"]),
        ("cd jobs && etl", ["&&"]),
        ("etl || true", ["||"]),
        ("etl; report", [";"]),
        ("etl &", ["&"]),
        ("etl $(date)", ["$("]),
        ("etl `date`", ["`"]),
        ('etl "$(date)"', ["$("]),
        ("etl '$(date)'", []),
        ("etl *.csv", ["*"]),
        ("etl ~/jobs", ["~"]),
        ("etl a~b", []),
        ("etl $HOME $DATE", ["$HOME", "$DATE"]),
        ('etl "$HOME"', ["$HOME"]),
        (r"etl \$HOME", []),
        ("etl '$HOME' $5 $$", []),
        ("etl {{ ds }}", ["{{ }}"]),
        ("etl '{{ds}}'", ["{{ }}"]),
        ("etl 'a | b' \"c > d\" e\\;f '*'", []),
        # a part of an argument that a shell would have made something else of, and we do not
        ("curl https://a.b/?x=1&y=2", []),
        # a shell reads the script, and not what follows it
        ("sh -c 'echo $HOME | tee *'", []),
        ("/bin/bash -euc 'cd $X && ls' name $1", []),
        ("env A=1 nice sh -c 'a | b'", []),
        ("sh -c echo | tee f", ["|"]),  # the script is `echo` alone
        ("etl | sh -c 'a | b'", ["|"]),
        ("sh script.sh | tee f", ["|"]),
        ("bash --norc script.sh *", ["*"]),
        ("ssh host 'a | b' $HOME", []),
        # programs of another language
        ("awk '{print $NF}' f", []),
        ('awk "{print $NF}" f', []),
        ("perl -e 'print $x' > out", [">"]),
        (r"find . -name '*.tmp' -exec rm {} \;", []),
        ("find . -exec rm {} ;", []),
    ],
)
def test_a_line(line: str, found: list[str]) -> None:
    seen = [mark for _, each in marks(words_of_line(line)) for mark in each]
    assert seen == found


@pytest.mark.parametrize(
    ("items", "found"),
    [
        (["etl", "select * from a where b > 1; -- or c"], {}),
        (["echo", "hello", "|", "tee", "f"], {2: ["|"]}),
        (["etl", "&&", "report"], {1: ["&&"]}),
        (["etl", ">>", "log"], {1: [">"]}),
        (["etl", "2>&1"], {1: [">"]}),
        (["etl", "&"], {1: ["&"]}),
        (["ls", "*.csv"], {}),  # many programs look for files themselves
        (["ls", "~/jobs"], {1: ["~"]}),
        (["etl", "$(date)"], {1: ["$("]}),
        (["etl", "--to=$HOME/x", "{{ ds }}"], {1: ["$HOME"], 2: ["{{ }}"]}),
        (["sh", "-c", "a | b > $HOME"], {}),
        (["docker", "run", "image", "sh", "-lc", "a | b && $C"], {}),
        (["find", ".", "-exec", "rm", "{}", ";"], {}),
        (["python", "-c", "print(`$x`)"], {}),
        ([], {}),
    ],
)
def test_a_list(items: list[str], found: dict[int, list[str]]) -> None:
    assert dict(marks(words_of_list(items))) == found


@given(st.text(alphabet=" ab\\'\"$|\t\n*", max_size=30))
def test_words_are_those_that_the_command_will_have(line: str) -> None:
    try:
        expected = shlex.split(line)
    except ValueError:
        return  # refused before anybody asks
    assert [word.text for word in words_of_line(line)] == expected


@pytest.mark.parametrize(
    ("config", "paths"),
    [
        ("{command: 'echo hello | tee f'}", ["command"]),
        ("{command: [echo, hello, '|', tee, f, $HOME]}", ["command[2]", "command[5]"]),
        ("{command: [sh, -c, 'echo hello | tee f']}", []),
        ("{command: etl, cwd: ~/jobs}", ["cwd"]),
        ("{command: etl, cwd: $HOME/jobs}", ["cwd"]),
        ("{command: etl, env: {PATH: '$PATH:/opt/etl'}}", ["env.PATH"]),
        ("{command: etl, env: {PRICE: '5$', PASSWORD: 'a$BC', HOME_OF: ~/x}}", ["env.HOME_OF"]),
    ],
)
def test_a_command_is_warned_of_in_its_place(config: str, paths: list[str]) -> None:
    found = warnings(job_text("command", config))
    assert [path for path, _ in found] == [f"job.config.{path}" for path in paths]


def test_templates_of_other_programs_are_odd_in_an_address() -> None:
    found = warnings(job_text("http", "{url: 'https://a.b/{{ds}}'}"))
    assert [path for path, _ in found] == ["job.config.url"]


def test_the_warning_says_what_to_write() -> None:
    job = "{type: command, config: {command: 'etl $DATE > f'}}"
    (problem,) = load_text(pipeline_text(job=job)).problems
    assert problem.message == (
        "no shell runs this command, so etl gets $DATE and > as they are; for shell syntax write"
        ' [sh, -c, "..."], for the date of the run ${DATE}, for a literal character single quotes'
    )
