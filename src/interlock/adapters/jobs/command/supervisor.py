"""Supervisor: stays with one command until it ends, and writes down how.

It runs by itself as `python -I -S supervisor.py` in a session of its own, so that a command outlives the
controller. A job waits for it to start: it imports only what starts fast (`signal` and `json` don't).

On stdin it gets its order, on stdout it says one word about the start. An order that does not arrive whole
means that the controller died first, and nothing is started. In the folder of the job it leaves

    lock       held for as long as it lives
    pid        the command's process group, and when that began, in the kernel's clock
    control    a pipe; any byte written into it asks to end the command
    stdout     what it wrote, without secrets; `stderr` alike, and `output` has both as they came. Beyond a
               megabyte it goes on in `stdout.1048576`, named after its first byte; the last two stay
    exit.json  how it ended; once this is there, nothing changes any more
"""
# ruff: noqa: SIM105 - contextlib starts slowly

import _signal as signal  # type: ignore[import-not-found]
import errno
import fcntl
import marshal
import os
import select
import time

LOCK, PID, CONTROL, EXIT = "lock", "pid", "control", "exit.json"
STDOUT, STDERR, BOTH = "stdout", "stderr", "output"
STARTED, TAKEN, FAILED = "started", "taken", "failed"
TIMED_OUT, CANCELLED, SHUT_DOWN = "timedOut", "cancelled", "shutDown"

KEPT = 1024 * 1024
READ_AT_ONCE = 64 * 1024
LONGEST_MESSAGE = 4096
#: How much of the end of the output is remembered, and how much of it a failure tells.
REMEMBERED = 16 * 1024
TOLD_LINES, TOLD_BYTES = 20, 2000
#: A process that looks at a job holds its lock for a moment.
LOCK_TRIES, LOCK_PAUSE = 400, 0.005
#: How often it is looked whether an ending group is gone.
PAUSE = 0.02
LONGEST_PAUSE = 3600.0


class Order:
    """What to run. Secrets are in `environment` and `masked`, and nowhere on disk."""

    token: str
    folder: str
    argv: list[bytes]
    cwd: bytes
    environment: dict[bytes, bytes]
    timeout: float
    grace: float
    masked: list[bytes]
    ends: str

    def __init__(self, fields: dict[str, object]) -> None:
        """Raises TypeError unless the fields are these."""
        if fields.keys() != Order.__annotations__.keys():
            raise TypeError("this is no order")
        self.__dict__.update(fields)

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"


class Tail:
    """The end of what a command writes, in files of a megabyte of which the last two stay.

    Files only grow, and their names tell where they begin: a reader sees nothing torn.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._current, self._before = path, ""
        self._file = _created(path)
        self._start = self._size = 0
        self.recent = b""

    def add(self, output: bytes) -> None:
        """A full disk costs the output, not the command."""
        self.recent = (self.recent + output)[-REMEMBERED:]
        try:
            while output:
                if self._size >= KEPT:
                    self._rotate()
                written = os.write(self._file, output[: KEPT - self._size])
                self._size += written
                output = output[written:]
        except OSError:
            pass

    def _rotate(self) -> None:
        start = self._start + self._size
        path = f"{self._path}.{start}"
        file = _created(path)
        os.close(self._file)
        oldest, self._before, self._current = self._before, self._current, path
        self._file, self._start, self._size = file, start, 0
        if oldest:
            os.unlink(oldest)


class Mask:
    """Takes secrets out of a stream of bytes. What may be the beginning of one waits for the rest."""

    def __init__(self, masked: list[bytes]) -> None:
        self._masked = [value for value in masked if value]
        self._longest = max(map(len, self._masked), default=0)
        self._held = b""

    def add(self, output: bytes) -> bytes:
        if not self._masked:
            return output
        output = self._held + output
        cut = self._safe_cut(output)
        self._held = output[cut:]
        return without(self._masked, output[:cut])

    def rest(self) -> bytes:
        held, self._held = self._held, b""
        return without(self._masked, held)

    def _safe_cut(self, output: bytes) -> int:
        """Where no secret is cut: before each that may go on, and not within one that is whole.

        A secret that overlaps itself could be held back for ever; it is masked as far as it has come.
        """
        cut = min(len(output) - begun(value, output) for value in self._masked)
        least = max(0, len(output) - 4 * self._longest)
        while cut > least:
            around = [(cut - len(value) + 1, value) for value in self._masked]
            found = [output.find(v, max(0, at), cut + len(v) - 1) for at, v in around]
            whole = [at for at in found if 0 <= at < cut]
            if not whole:
                return cut
            cut = min(whole)
        return len(output) if least else cut


class Pipe:
    """What the command writes into one of its pipes: kept by itself, and together with the other."""

    def __init__(self, tails: list[Tail], masked: list[bytes]) -> None:
        self._tails = tails
        self._mask = Mask(masked)

    def add(self, output: bytes) -> None:
        self._keep(self._mask.add(output))

    def close(self) -> None:
        self._keep(self._mask.rest())

    def _keep(self, output: bytes) -> None:
        for tail in self._tails:
            tail.add(output)


class Outputs:
    """Everything that is kept of what the command writes."""

    def __init__(self, order: Order) -> None:
        stdout, self.stderr, self.both = (Tail(order.path(n)) for n in (STDOUT, STDERR, BOTH))
        self.pipes = [Pipe([tail, self.both], order.masked) for tail in (stdout, self.stderr)]

    def close(self) -> None:
        for pipe in self.pipes:
            pipe.close()


class Child:
    """The command, and the pipes it writes to."""

    def __init__(self, pid: int, pipes: dict[int, Pipe]) -> None:
        self.pid = pid
        self.pipes = pipes
        self.began_at = time.time()
        self.status: int | None = None

    def look(self) -> None:
        if self.status is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if done == self.pid else None

    def send(self, number: int) -> None:
        """To the whole group; the command may have started others."""
        try:
            os.killpg(self.pid, number)
        except OSError:
            pass

    def has_company(self) -> bool:
        """Whether any process of the group is left."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass
        return True


class StartFailure:
    """A command that could not be begun: at which step, and the system's number for why."""

    def __init__(self, step: str, number: int) -> None:
        self.step = step
        self.number = number


class Ending:
    """By whose wish a command is being ended, and how far that is."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._kill_at = 0.0
        self.wish: str | None = None
        self.killed = False

    def begin(self, wish: str, child: Child) -> None:
        self.wish = wish
        self._kill_at = time.monotonic() + self._grace
        child.send(signal.SIGTERM)

    def go_on(self, child: Child) -> None:
        if time.monotonic() >= self._kill_at:
            self.killed = True
            self._kill_at = time.monotonic() + self._grace
            child.send(signal.SIGKILL)

    def is_over(self, child: Child) -> bool:
        """After a KILL only the command itself has to end: its children may have no parent to reap them."""
        if child.status is None:
            return False
        return self.wish is None or self.killed or not child.has_company()

    def left(self) -> float:
        return self._kill_at - time.monotonic()


#: Filled by a TERM to the supervisor itself: the machine shuts down.
shut_down: list[int] = []


def main() -> None:
    order = read_order()
    lock = None if order is None else take_lock(order)
    if order is None:
        return
    if lock is None:
        say(TAKEN)
        return
    woken, control = wake_on_signals(), open_control(order)
    kept = Outputs(order)
    child = begin(order, kept.pipes)
    if isinstance(child, StartFailure):
        os.close(lock)  # before the report: the next supervisor may begin at once
        say(FAILED, child.step, child.number)
        return
    say(STARTED)
    let_go()
    wish = watch(order, child, woken, control)
    finish(order, child, wish, kept)
    tell(order)
    sync(order.folder)


def read_order() -> Order | None:
    try:
        with open(0, "rb", closefd=False) as stdin:
            return Order(marshal.loads(stdin.read()))  # noqa: S302 - our own parent wrote it
    except (AttributeError, EOFError, ValueError, TypeError):
        return None


def take_lock(order: Order) -> int | None:
    """None when another supervisor, which holds or held the lock, has begun the command."""
    lock = os.open(order.path(LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return None if was_begun(order) else lock
        except BlockingIOError:
            if was_begun(order):
                return None
        time.sleep(LOCK_PAUSE)
    return None


def was_begun(order: Order) -> bool:
    return os.path.exists(order.path(PID)) or os.path.exists(order.path(EXIT))


def wake_on_signals() -> int:
    """A pipe that becomes readable when the command ends, or when we are asked to."""
    woken, waker = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda number, _: None)
    signal.signal(signal.SIGTERM, lambda number, _: shut_down.append(number))
    return woken


def open_control(order: Order) -> int:
    """Open at both ends, so that it is never at its end."""
    try:
        os.mkfifo(order.path(CONTROL), 0o600)
    except FileExistsError:
        pass
    return os.open(order.path(CONTROL), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def begin(order: Order, pipes: list[Pipe]) -> Child | StartFailure:
    """The command waits at a gate until its pid is written: no command runs unrecorded."""
    gate, opener = os.pipe()
    report, reporter = os.pipe()
    outputs, inputs = zip(os.pipe(), os.pipe(), strict=True)
    try:
        pid = os.fork()
    except OSError as error:
        return StartFailure("start", error.errno or 0)
    if pid == 0:
        os.close(opener)
        become(order, gate, reporter, *inputs)
    for descriptor in (gate, reporter, *inputs):
        os.close(descriptor)
    write(order.path(PID), f"{pid} {began(pid)}\n".encode())
    os.write(opener, b"1")
    os.close(opener)
    failure = os.read(report, 64)
    if failure:
        os.waitpid(pid, 0)
        os.unlink(order.path(PID))
        step, _, number = failure.decode().partition(" ")
        return StartFailure(step, int(number))
    return Child(pid, dict(zip(outputs, pipes, strict=True)))


def become(order: Order, gate: int, reporter: int, stdout: int, stderr: int) -> None:
    """The child's part: wait, and turn into the command. Does not return."""
    step = "start"
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        if os.read(gate, 1):
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(stdout, 1)
            os.dup2(stderr, 2)
            step = "cwd"
            os.chdir(order.cwd)
            step = "command"
            execute(order)
    except OSError as error:
        os.write(reporter, f"{step} {error.errno}".encode())
    except ValueError:
        os.write(reporter, f"{step} {errno.EINVAL}".encode())
    finally:
        os._exit(127)


def execute(order: Order) -> None:
    """By the PATH of the command, not ours. Raises OSError of the first file that is there."""
    name, search = order.argv[0], order.environment.get(b"PATH", os.fsencode(os.defpath))
    places = [b""] if b"/" in name else [each + b"/" for each in search.split(b":") if each]
    failure = OSError(errno.ENOENT, "not found")
    for place in places:
        try:
            os.execve(place + name, order.argv, order.environment)  # noqa: S606 - no shell: meant
        except OSError as error:
            if failure.errno == errno.ENOENT and error.errno != errno.ENOTDIR:
                failure = error
    raise failure


def began(pid: int) -> str:
    """When a process began, in ticks since the machine did; "-" where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return "-"


def watch(order: Order, child: Child, woken: int, control: int) -> str | None:
    """Keep what the command says until it has ended. Answers by whose wish it did; None: its own."""
    due_at = time.monotonic() + order.timeout
    ending, poll = Ending(order.grace), select.poll()
    for descriptor in (woken, control, *child.pipes):
        os.set_blocking(descriptor, False)
        poll.register(descriptor, select.POLLIN)
    while not ending.is_over(child):
        cancelled = False
        for descriptor, _ in poll.poll(1000 * patience(child, ending, due_at)):
            if descriptor in child.pipes:
                if not keep(descriptor, child):
                    poll.unregister(descriptor)
            else:
                cancelled = (bool(read(descriptor)) and descriptor == control) or cancelled
        child.look()
        if ending.wish is not None:
            ending.go_on(child)
        elif child.status is None:
            wish = wish_of(cancelled, due_at)
            if wish is not None:
                ending.begin(wish, child)
    drain(child)
    # a shutdown asks all processes at once: the command may have heard of it before us
    return SHUT_DOWN if ending.wish is None and shut_down else ending.wish


def patience(child: Child, ending: Ending, due_at: float) -> float:
    """How long nothing needs to be looked at, in seconds."""
    if child.status is not None:
        return PAUSE
    left = due_at - time.monotonic() if ending.wish is None else ending.left()
    return min(max(0.0, left), LONGEST_PAUSE)


def wish_of(cancelled: bool, due_at: float) -> str | None:
    if cancelled:
        return CANCELLED
    if shut_down:
        return SHUT_DOWN
    return TIMED_OUT if time.monotonic() >= due_at else None


def keep(descriptor: int, child: Child) -> bool:
    """False when there is nothing to read."""
    output = read(descriptor)
    if output:
        child.pipes[descriptor].add(output)
    return bool(output)


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, READ_AT_ONCE)
    except BlockingIOError:
        return b""


def drain(child: Child) -> None:
    """Read what the command left in its pipes. A process that it left behind may write for ever."""
    for descriptor in child.pipes:
        for _ in range(KEPT // READ_AT_ONCE):
            if not keep(descriptor, child):
                break


def finish(order: Order, child: Child, wish: str | None, kept: Outputs) -> None:
    """Record how it ended. Until then the job counts as running, so this waits while the disk is full."""
    kept.close()
    text = ending_text(child, wish, kept)
    while True:
        try:
            write(order.path(f"{EXIT}.new"), text.encode(errors="replace"), durably=True)
            os.rename(order.path(f"{EXIT}.new"), order.path(EXIT))
            return
        except FileNotFoundError:
            return  # the folder is gone: no record is wanted
        except OSError:
            time.sleep(1)


def ending_text(child: Child, wish: str | None, kept: Outputs) -> str:
    assert child.status is not None
    killed = os.WIFSIGNALED(child.status)
    pairs = {
        "code": "null" if killed else str(os.WEXITSTATUS(child.status)),
        "signal": str(os.WTERMSIG(child.status)) if killed else "null",
        "wish": "null" if wish is None else quoted(wish),
        "beganAt": f"{child.began_at:.6f}",
        "endedAt": f"{time.time():.6f}",
        "message": quoted(last_line(kept.stderr.recent)),
        "tail": quoted(last_lines(kept.both.recent) if child.status or wish else ""),
    }
    return "{" + ", ".join(f'"{name}": {value}' for name, value in pairs.items()) + "}\n"


def last_line(output: bytes) -> str:
    line = output.rstrip().rpartition(b"\n")[2]
    return line.decode(errors="replace").strip()[:LONGEST_MESSAGE]


def last_lines(output: bytes) -> str:
    lines = output.rstrip().split(b"\n")[-TOLD_LINES:]
    return b"\n".join(lines)[-TOLD_BYTES:].decode(errors="replace")


def without(masked: list[bytes], output: bytes) -> bytes:
    for value in sorted(masked, key=len, reverse=True):
        output = output.replace(value, b"***")
    return output


def begun(value: bytes, output: bytes) -> int:
    """How many bytes at the end of the output may be the beginning of a value, but not all of it."""
    at = max(0, len(output) - len(value) + 1)
    while (at := output.find(value[:1], at)) >= 0:
        if value.startswith(output[at:]):
            return len(output) - at
        at += 1
    return 0


def quoted(text: str) -> str:
    """A JSON string."""
    return '"' + "".join(_plain(char) for char in text) + '"'


def _plain(char: str) -> str:
    return f"\\u{ord(char):04x}" if char < " " or char in '"\\' else char


def _created(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


def write(path: str, content: bytes, durably: bool = False) -> None:
    file = _created(path)
    try:
        while content:
            content = content[os.write(file, content) :]
        if durably:
            os.fsync(file)
    finally:
        os.close(file)


def sync(path: str) -> None:
    """Make a file last, or what was renamed in a folder."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def tell(order: Order) -> None:
    """Wake the controller, if it listens."""
    try:
        ends = os.open(order.ends, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.write(ends, f"{order.token}\n".encode())
    except OSError:
        pass


def say(word: str, step: str = "-", number: int = 0) -> None:
    """One line to the controller, which may be gone."""
    try:
        os.write(1, f"{word} {step} {number}\n".encode())
    except OSError:
        pass


def let_go() -> None:
    """Hold on to nothing of the controller's."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


if __name__ == "__main__":
    main()
