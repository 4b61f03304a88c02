"""Prints the nanoseconds that making, checking and receiving a handoff take with jsonschema and tiktoken, best of many turns.

What is made, checked and compared is what the benchmark beside it has Countersign do: the schema, the hash and the size of the
payload, the number of tokens, and for what is received that it is what was sent.
"""

import hashlib
import json
import sys
import time

import jsonschema
import tiktoken

TOKENS_MAX = 2000


def whole(written: str):
    """RFC 8785 writes 1.0 as 1."""
    number = float(written)
    return int(number) if number.is_integer() else number


def read(text: str):
    return json.loads(text, parse_float=whole)


def compact(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def payload_hash(value) -> str:
    text = json.dumps(value["handoff"]["payload"], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    texts = []
    for path in sys.argv[1:4]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    schema, draft, document = texts
    validator = jsonschema.Draft202012Validator(
        json.loads(schema), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    encoding = tiktoken.get_encoding("o200k_base")

    def judge(value) -> None:
        if not validator.is_valid(value):
            sys.exit(f"the document breaks its schema: {next(validator.iter_errors(value)).message}")
        if len(encoding.encode(compact(value), disallowed_special=())) > TOKENS_MAX:
            sys.exit("the document has too many tokens")

    def check(text: str):
        value = read(text)
        judge(value)
        meta = value["handoff"]["meta"]
        if payload_hash(value) != meta["payload_hash"]:
            sys.exit("the hash is not that of the payload")
        # By how its numbers were written the payload may be longer.
        if len(compact(value["handoff"]["payload"]).encode()) > meta["payload_size_bytes"]:
            sys.exit("the size is not that of the payload")
        return value

    def make() -> str:
        value = read(draft)
        meta = value["handoff"]["meta"]
        meta["payload_hash"] = payload_hash(value)
        meta["payload_size_bytes"] = len(compact(value["handoff"]["payload"]).encode())
        meta["token_count"] = len(encoding.encode(compact(value), disallowed_special=()))
        judge(value)
        return json.dumps(value, ensure_ascii=False, indent=2)

    def receive() -> None:
        # What was sent is kept as text, and its hash beside it.
        found, sent = check(document), read(document)
        if payload_hash(found) != sent["handoff"]["meta"]["payload_hash"] or found != sent:
            sys.exit("what arrived is not what was sent")

    check(make())
    for act in (make, lambda: check(document), receive):
        best = float("inf")
        for _ in range(20):
            start = time.perf_counter_ns()
            count = 0
            while time.perf_counter_ns() - start < 20_000_000:
                act()
                count += 1
            best = min(best, (time.perf_counter_ns() - start) / count)
        print(best)


main()
