"""Every mistake of the page is made for real, and is answered as the page says."""

from collections.abc import Iterator

import pytest

from cli.mistakes import MISTAKES, PAGE, Mistake, Workshop, row, workshop

pytest.importorskip("uvicorn")
pytest.importorskip("holidays")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with workshop(tmp_path_factory.mktemp("mistakes")) as made:
        yield made


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_a_mistake_is_answered_with_the_place_and_what_would_be_right(
    shop: Workshop, mistake: Mistake
) -> None:
    said = mistake.act(shop)
    assert [words for words in mistake.needs if words not in said] == [], said
    assert "bug in Interlock" not in said
    assert row(mistake, said) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_has_these_mistakes_and_no_others() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.startswith("| ")]) == len(MISTAKES) + 2
    assert len({mistake.what for mistake in MISTAKES}) == len(MISTAKES) >= 25
