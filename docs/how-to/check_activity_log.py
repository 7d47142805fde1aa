"""Check an exported activity log against its signed head, with Python alone: nothing of Proofroom is needed.

python check_activity_log.py PUBLIC_KEY LOG HEAD [EARLIER_HEAD ...]

Write the public key from your own notes: one that comes with the files proves nothing.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

Point = tuple[int, int, int, int]

# Ed25519 (RFC 8032, section 6): points as x, y, z, t with x/z, y/z and t = x*y/z.
P, Q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(one: Point, two: Point) -> Point:
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % P, (one[1] + one[0]) * (two[1] + two[0]) % P
    c, d = 2 * one[3] * two[3] * D % P, 2 * one[2] * two[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(number: int, point: Point) -> Point:
    result: Point = (0, 1, 1, 0)
    while number:
        result = add(result, point) if number & 1 else result
        point, number = add(point, point), number >> 1
    return result


def decode(data: bytes) -> Point:
    y = int.from_bytes(data, "little") & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square:
        sys.exit("This is no public key or no signature.")
    x = P - x if x & 1 != data[31] >> 7 else x
    return x, y, 1, x * y % P


def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    base = decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    left, right = multiply(s, base), add(decode(signature[:32]), multiply(k, decode(key)))
    is_same = all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))
    return len(signature) == 64 and s < Q and is_same


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_head(name: str, key: bytes) -> tuple[int, str]:
    head = json.loads(Path(name).read_text(encoding="utf-8"))
    signature = bytes.fromhex(head.pop("signature"))
    if head["publicKey"] != key.hex() or not is_signed(key, text_of(head).encode(), signature):
        sys.exit(f"{name}: the signature is not of this key, or the head was changed.")
    return int(head["seq"]), str(head["hash"])


def read_chain(log: str) -> tuple[dict[int, str], int]:
    hashes: dict[int, str] = {}
    seq, before, begin, is_begun, whole = 0, "0" * 64, (0, ""), True, 0
    for line in Path(log).read_text(encoding="utf-8").splitlines():
        link = json.loads(line)
        if not hashes:
            # A log may begin later only if one of its entries says that what was before was deleted by age.
            seq, before = begin = (link["seq"] - 1, link["before"])
            is_begun = begin == (0, "0" * 64)
        if (link["seq"], link["before"]) != (seq + 1, before):
            sys.exit(f"Link {link['seq']} does not follow link {seq}.")
        seq, before = link["seq"], link["hash"]
        hashes[seq] = before
        if before != sha256(f"{seq}\n{link['before']}\n{link['facts']}\n{link['payload']}"):
            sys.exit(f"Link {seq} was changed.")
        if "entry" in link and link["facts"] != sha256(text_of(link["entry"])):
            sys.exit(f"Link {seq}: who did what, when or how was changed.")
        if "salt" in link and link["payload"] != sha256(link["salt"] + text_of(link["details"])):
            sys.exit(f"Link {seq}: what the entry says was changed.")
        whole += "entry" in link and "salt" in link
        if link.get("entry", {}).get("name") == "activity.pruned" and "salt" in link:
            is_begun |= (link["details"]["to"], link["details"]["hash"]) == begin
    if not is_begun:
        sys.exit(f"The links before {begin[0] + 1} were removed, and no entry says so.")
    return hashes, whole


def check(public_key: str, log: str, head: str, *earlier: str) -> None:
    key, (hashes, whole) = bytes.fromhex(public_key), read_chain(log)
    first, seq, last = min(hashes, default=0), max(hashes, default=0), read_head(head, key)
    if last != (seq, hashes.get(seq)):
        sys.exit(f"The log ends at {seq}, and the head is of link {last[0]}, or of another log.")
    for name in earlier:
        number, digest = read_head(name, key)
        if number >= first and hashes.get(number) != digest:
            sys.exit(f"{name}: link {number} is not the one that was signed then.")
    print(
        f"Unchanged: links {first} to {seq}; {whole} entries whole, {len(hashes) - whole} in part."
    )


if __name__ == "__main__":
    check(*sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
