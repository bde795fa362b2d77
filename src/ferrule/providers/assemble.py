"""One assembler for all vendors: fragments go in, stream events come out, and the message is what the events spell.

Fragments are addressed by the vendor's own key where there is one (`begin`, `add`) and by the rules of `call` for servers that
speak the OpenAI chat dialect and number their calls carelessly. Chunks are kept in lists and joined once; arguments are never
parsed here.

Rules for call fragments (`call`), the first that fits decides:
1. a known id continues its call, unless it brings a name under another index than the call's: then two calls share the id;
2. a new id beside a known index continues that index's call when the call has no id yet, or when the fragment brings no name
   (some servers make up a new id for every fragment); otherwise it is a new call (several calls under index 0);
3. without an id, a known index continues its call and an unknown one is a new call; without an index, the last call continues,
   and there is a new one where there is none yet;
4. but a fragment without an id whose name differs from the call's, after arguments have begun, is a new call.

Rules for names: equal to the name so far is a repetition; longer and beginning with it is the whole name; anything else before
arguments have begun is the next piece of it; after that, the last whole name counts.
"""

from collections.abc import Hashable
from typing import Any

from ferrule.types.fault import Fault
from ferrule.types.json import encode, mend, open_half
from ferrule.types.messages import Assistant, AssistantPart, Opaque, Reasoning, StopReason, Text, ToolCall
from ferrule.types.stream import Done, Failed, Noted, PartBegan, PartDelta, PartKind, PartNamed, PartOpaque, StreamEvent
from ferrule.types.usage import Price, Usage


class _Part:
    """`half` is the first half of a surrogate pair whose second half has not come yet; `number` the vendor's index of a call."""

    def __init__(self, index: int, kind: PartKind, id: str, name: str) -> None:
        self.index = index
        self.kind = kind
        self.id = id
        self.name = name
        self.chunks: list[str] = []
        self.half = ""
        self.opaque: Opaque | None = None
        self.closed = False
        self.number: int | None = None

    def value(self) -> AssistantPart:
        text = "".join(self.chunks)
        match self.kind:
            case "text":
                return Text(text, self.opaque)
            case "reasoning":
                return Reasoning(text, self.opaque)
            case "call":
                return ToolCall(self.id, self.name, text, opaque=self.opaque)


class Assembler:
    """`dialect` and `model` mark opaque data and the message. Events wait in a list until `take`."""

    def __init__(self, dialect: str, model: str, price: Price | None = None) -> None:
        self._dialect = dialect
        self._model = model
        self._price = price
        self._events: list[StreamEvent] = []
        self._parts: list[_Part] = []
        self._by_key: dict[Hashable, _Part] = {}
        self._by_id: dict[str, _Part] = {}
        self._by_index: dict[int, _Part] = {}
        self._last_call: _Part | None = None
        self.usage: Usage | None = None

    def take(self) -> list[StreamEvent]:
        """The events since the last `take`."""
        events, self._events = self._events, []
        return events

    def parts(self) -> tuple[AssistantPart, ...]:
        return tuple(part.value() for part in self._parts)

    @property
    def has_calls(self) -> bool:
        return self._last_call is not None

    def note(self, by: str, what: str) -> None:
        self._events.append(Noted(by, what))

    def begin(self, kind: PartKind, key: Hashable = None, id: str = "", name: str = "") -> None:
        """A part begins. `key` addresses it from now on, whatever part had it before."""
        part = self._begin(kind, mend(id), mend(name))
        if key is not None:
            self._by_key[key] = part

    def add(self, kind: PartKind, chunk: str, key: Hashable = None) -> None:
        """More of the part at `key`; without a key, of the last part when it is of this kind. Begins one where there is none."""
        if not chunk:
            return
        part = self._by_key.get(key) if key is not None else (self._parts[-1] if self._parts else None)
        if part is None or part.closed or part.kind != kind:
            part = self._begin(kind, "", "")
            if key is not None:
                self._by_key[key] = part
        self._append(part, chunk)

    def named(self, key: Hashable, id: str = "", name: str = "") -> None:
        """The whole id or name of the call at `key`, where it was not known before or was another."""
        part = self._by_key.get(key)
        if part is not None:
            self._rename(part, mend(id), mend(name))

    def chunked(self, key: Hashable) -> bool:
        """Whether the part at `key` has any text yet."""
        part = self._by_key.get(key)
        return part is not None and bool(part.chunks or part.half)

    def known(self, key: Hashable) -> bool:
        return key in self._by_key

    def close(self, key: Hashable = None) -> None:
        """Nothing more is added to the part at `key` (to the last part): what follows begins a new one."""
        part = self._by_key.pop(key, None) if key is not None else (self._parts[-1] if self._parts else None)
        if part is not None:
            self._flush(part)
            part.closed = True

    def keep(self, data: Any, key: Hashable = None) -> None:
        """Opaque data of the part at `key` (of the last part). Does nothing where there is no such part."""
        part = self._by_key.get(key) if key is not None else (self._parts[-1] if self._parts else None)
        if part is not None:
            part.opaque = Opaque(self._dialect, self._model, encode(data).decode())
            self._events.append(PartOpaque(part.index, part.opaque))

    def bind(self, kind: PartKind, key: Hashable) -> None:
        """Let `key` address the last part, which is begun first unless it is of this kind."""
        last = self._parts[-1] if self._parts else None
        self._by_key[key] = last if last is not None and last.kind == kind and not last.closed else self._begin(kind, "", "")

    def call(self, *, index: int | None = None, id: str = "", name: str = "", arguments: str = "", extra: Any = None) -> None:
        """A call fragment of a server that may number its calls carelessly; the module's text has the rules."""
        id, name = mend(id), mend(name)
        part = self._called(index, id, name)
        if part is None:
            part = self._begin("call", id, name)
            part.number = index
        else:
            self._rename(part, id if not part.id else "", self._whole_name(part, name))
        if id:
            self._by_id[id] = part
        if index is not None:
            self._by_index[index] = part
        self._last_call = part
        if arguments:
            self._append(part, arguments)
        if extra is not None:
            part.opaque = Opaque(self._dialect, self._model, encode(extra).decode())
            self._events.append(PartOpaque(part.index, part.opaque))

    def finish(self) -> None:
        """Settle halves of surrogate pairs that stayed alone."""
        for part in self._parts:
            self._flush(part)

    def done(self, stop: StopReason) -> list[StreamEvent]:
        """The remaining events and the terminal one."""
        self.finish()
        message = Assistant(self.parts(), stop, f"{self._dialect}/{self._model}")
        return [*self.take(), Done(message, self._costed(self.usage, complete=True))]

    def failed(self, fault: Fault, usage: Usage | None = None) -> list[StreamEvent]:
        """The remaining events and the terminal one. The cost of a broken answer is unknown unless `usage` says what it is."""
        self.finish()
        return [*self.take(), Failed(fault, self.parts(), usage or self._costed(self.usage, complete=False))]

    def _costed(self, usage: Usage | None, complete: bool) -> Usage:
        if usage is None:
            return Usage()
        cost = self._price.cost(usage) if self._price and complete else None
        return Usage(usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning, cost)

    def _called(self, index: int | None, id: str, name: str) -> _Part | None:
        at = self._by_index.get(index) if index is not None else None
        if id in self._by_id:
            if at is not None and at.id == id:
                return at
            known = self._by_id[id]
            return None if name and None not in (index, known.number) and index != known.number else known
        if id:
            return at if at is not None and (not at.id or not name) else None
        part = at if index is not None else self._last_call
        if part is not None and name and part.chunks and part.name and not part.name.startswith(name):
            return None
        return part

    @staticmethod
    def _whole_name(part: _Part, name: str) -> str:
        if not name or name == part.name:
            return ""
        if part.chunks or name.startswith(part.name):
            return name if not part.name.startswith(name) else ""
        return part.name + name

    def _begin(self, kind: PartKind, id: str, name: str) -> _Part:
        part = _Part(len(self._parts), kind, id, name)
        self._parts.append(part)
        self._events.append(PartBegan(part.index, kind, id, name))
        if kind == "call":
            self._last_call = part
        return part

    def _rename(self, part: _Part, id: str, name: str) -> None:
        id, name = (id if id != part.id else ""), (name if name != part.name else "")
        if id or name:
            part.id, part.name = id or part.id, name or part.name
            self._events.append(PartNamed(part.index, id, name))

    def _append(self, part: _Part, chunk: str) -> None:
        if part.half or not chunk.isascii():
            chunk = part.half + chunk
            part.half = open_half(chunk)
            chunk = self._clean(part, chunk[: len(chunk) - len(part.half)])
        if chunk:
            part.chunks.append(chunk)
            self._events.append(PartDelta(part.index, chunk))

    def _flush(self, part: _Part) -> None:
        if part.half:
            half, part.half = part.half, ""
            chunk = self._clean(part, half)
            part.chunks.append(chunk)
            self._events.append(PartDelta(part.index, chunk))

    def _clean(self, part: _Part, chunk: str) -> str:
        mended = mend(chunk)
        if mended.count("\ufffd") != chunk.count("\ufffd"):
            self.note("decoder", f"half of a surrogate pair replaced in part {part.index} ({part.kind})")
        return mended
