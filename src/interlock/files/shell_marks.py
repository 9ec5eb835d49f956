"""Shell marks: what only a shell would act on in a command. No shell reads a command.

A text is split as the command will be: into words, with the quoting rules of POSIX. Quoted parts are taken
literally.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import msgspec

_NOTHING = "\0"
_OPERATORS = ("&&", "||", "|", ">", "<", ";")
_ALONE = frozenset({*_OPERATORS, "&", ">>", "<<", "2>", "2>&1", "&>", "|&"})
_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
_READS_SCRIPT = re.compile(r"-[A-Za-z]*c")
_SHELLS = frozenset({"sh", "ash", "bash", "csh", "dash", "fish", "ksh", "tcsh", "zsh"})
#: They hand their arguments to a shell, here or elsewhere.
_TO_A_SHELL = frozenset(
    {"cmd", "cmd.exe", "parallel", "powershell", "pwsh", "runuser", "ssh", "su", "watch"}
)
#: Their arguments are programs of another language, in which `$` has a meaning.
_OWN_LANGUAGE = frozenset(
    {
        "awk",
        "gawk",
        "jq",
        "mawk",
        "node",
        "perl",
        "php",
        "python",
        "python3",
        "Rscript",
        "ruby",
        "sed",
    }
)
_EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


class ShellWord(msgspec.Struct, frozen=True):
    """One argument. `bare` is its unquoted part, `open` the part where a shell would look for `$`; the rest
    of both is blanked out.
    """

    text: str
    bare: str
    open: str


def words_of_line(line: str) -> list[ShellWord]:
    """The words of a text, as `shlex.split` finds them."""
    words: list[ShellWord] = []
    current: list[tuple[str, str]] | None = None
    for character, quoting in _characters(line):
        if not quoting and character.isspace():
            words += [] if current is None else [_word(current)]
            current = None
        else:
            current = (current or []) + ([(character, quoting)] if character else [])
    return words if current is None else [*words, _word(current)]


def words_of_list(items: Sequence[str]) -> list[ShellWord]:
    """A separate argument is taken literally, unless it is only an operator."""
    return [
        ShellWord(item, item if item in _ALONE or item.startswith("~/") else "", item)
        for item in items
    ]


def marks(words: Sequence[ShellWord]) -> Iterator[tuple[int, list[str]]]:
    """The words that a shell would act on, by position, each with the reason."""
    if words and _name(words[0].text) in _TO_A_SHELL:
        return
    script = _script([word.text for word in words])
    for position, word in enumerate(words):
        found = [*_operators(word, words), *_expansions(word, words)]
        if found and position != script:
            yield position, found


def _operators(word: ShellWord, words: Sequence[ShellWord]) -> Iterator[str]:
    bare = word.bare
    if word.bare == ";" and any(each.text in _EXECUTES for each in words):
        return
    for operator in _OPERATORS:
        if operator in bare:
            yield operator
            bare = bare.replace(operator, _NOTHING)
    if bare == "&":
        yield "&"
    if "*" in bare:
        yield "*"
    if bare.startswith("~"):
        yield "~"


def _expansions(word: ShellWord, words: Sequence[ShellWord]) -> Iterator[str]:
    if "{{" in word.text:
        yield "{{ }}"
    if _name(words[0].text) in _OWN_LANGUAGE:
        return
    if "$(" in word.open:
        yield "$("
    if "`" in word.open:
        yield "`"
    yield from dict.fromkeys(_VARIABLE.findall(word.open))


def _script(words: Sequence[str]) -> int | None:
    """The position of the word that a shell reads as its script."""
    for position, word in enumerate(words):
        if _name(word) in _SHELLS:
            for number, option in enumerate(words[position + 1 :], position + 2):
                if not option.startswith("-"):
                    break
                if _READS_SCRIPT.fullmatch(option):
                    return number
    return None


def _name(word: str) -> str:
    return PurePosixPath(word).name


def _word(characters: Sequence[tuple[str, str]]) -> ShellWord:
    def only(quotings: str) -> str:
        return "".join(c if q in quotings.split("/") else _NOTHING for c, q in characters)

    return ShellWord("".join(c for c, _ in characters), only(""), only('/"'))


def _characters(line: str) -> Iterator[tuple[str, str]]:
    """Each character with what quotes it: nothing, a kind of quote, or a backslash.

    A quote itself is an empty character: it starts a word but is not part of it.
    """
    quote = ""
    rest = iter(line)
    for character in rest:
        if character == "\\" and quote != "'":
            follower = next(rest, "")
            if quote and follower not in ('"', "\\"):
                yield character, quote
                yield follower, quote
            else:
                yield follower, "\\"
        elif character == quote or (not quote and character in "'\""):
            quote = "" if quote else character
            yield "", character
        else:
            yield character, quote
