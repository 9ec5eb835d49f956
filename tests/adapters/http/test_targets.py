"""URLs, taken apart once."""

import pytest

from interlock.adapters.http.targets import RequestTarget, redirected, target_of


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://a", RequestTarget("http", "a", 80, "/")),
        ("HTTPS://ETL.example./x?y=1#z", RequestTarget("https", "etl.example.", 443, "/x?y=1")),
        ("http://[2606:4700::1]:8080/p", RequestTarget("http", "2606:4700::1", 8080, "/p")),
        ("http://a?b", RequestTarget("http", "a", 80, "/?b")),
        (
            "http://bücher.example/é?ü=%20",
            RequestTarget("http", "xn--bcher-kva.example", 80, "/%C3%A9?%C3%BC=%20"),
        ),
        ("http://a/b@c", RequestTarget("http", "a", 80, "/b@c")),
        ("http://2130706433/", RequestTarget("http", "2130706433", 80, "/")),
    ],
)
def test_where_a_url_leads(url: str, target: RequestTarget) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a", "//a", "a", "", "http://", "http:///x", "http://u:secret@a", "http://u@a", "http://a b",
        "http://a\\@b", "http://a\tb", "http://a/\r\nX: y", "http://a:99999", "http://a:x", "http://[::1",
        "http://[fe80::1%25eth0]/", "http://a%00b/", "http://-a/", "http://a../", "http://a/" + "x" * 2048,
        "javascript:alert(1)",
    ],
)  # fmt: skip
def test_a_url_that_leads_nowhere_is_not_repeated(url: str) -> None:
    with pytest.raises(ValueError) as error:
        target_of(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("location", "origin", "path"),
    [
        ("/next", ("https", "a", 8443), "/next"),
        ("next?x", ("https", "a", 8443), "/p/next?x"),
        ("https://b/x", ("https", "b", 443), "/x"),
        ("//b/x", ("https", "b", 443), "/x"),
    ],
)
def test_where_a_redirect_leads(location: str, origin: tuple[str, str, int], path: str) -> None:
    following = redirected(target_of("https://a:8443/p/q"), location)
    assert (following.origin, following.path) == (origin, path)


@pytest.mark.parametrize("location", ["http://a:8443/", "file:///etc/passwd", "https://u:p@a/"])
def test_a_redirect_out_of_encryption_or_into_nowhere_is_refused(location: str) -> None:
    with pytest.raises(ValueError):
        redirected(target_of("https://a:8443/p"), location)


def test_a_redirect_to_the_same_literal_host_is_understood() -> None:
    assert redirected(target_of("http://[::1]:80/"), "/x") == RequestTarget("http", "::1", 80, "/x")
