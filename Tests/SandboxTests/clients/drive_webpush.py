"""Drives the sandbox's push service with pywebpush, and reads with http-ece what Fanfare made for a browser (pushes.json).
Argument: the sandbox's folder. Prints one JSON object."""

import base64
import json
import sys
import time

import http_ece
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid
from py_vapid.jwt import sign
from pywebpush import WebPushException, webpush

FOLDER = sys.argv[1]
with open(FOLDER + "/sandbox.json") as file:
    sandbox = json.load(file)
HOST = "https://localhost:%d" % sandbox["webpush_port"]
session = requests.Session()
# No authority or proxy of the machine's.
session.trust_env = False
session.verify = sandbox["ca"]
key = Vapid.from_file(sandbox["vapid_key"])


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def public_key(vapid):
    point = vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).decode().rstrip("=")


def subscription(name, **query):
    answer = session.get(HOST + "/subscriptions/" + name, params=query)
    answer.raise_for_status()
    return answer.json()


def told(answer):
    result = {"status": answer.status_code, "location": answer.headers.get("location"),
              "retry_after": answer.headers.get("retry-after")}
    try:
        result["reason"] = answer.json().get("reason")
    except ValueError:
        pass
    return result


def push(to, data="Hello", vapid=key, **more):
    claims = {"sub": "mailto:push@example.com"}
    try:
        return told(webpush(to, data, vapid_private_key=vapid, vapid_claims=claims, requests_session=session,
                            ttl=more.pop("ttl", 60), **more))
    except WebPushException as error:
        return told(error.response)


def read(item):
    private = ec.derive_private_key(int.from_bytes(decode(item["private_key"]), "big"), ec.SECP256R1())
    text = http_ece.decrypt(decode(item["body"]), private_key=private, auth_secret=decode(item["auth"]))
    return json.loads(text)


def bare(to, **headers):
    return told(session.post(to["endpoint"], data=b"", headers=headers))


anna = subscription("anna")
own = subscription("bert", key=public_key(key))
stranger = Vapid()
stranger.generate_keys()
swapped = dict(anna, keys=subscription("carl")["keys"])
now = int(time.time())


def header(**claims):
    """What the library itself would not sign."""
    claims = dict({"sub": "mailto:push@example.com", "aud": HOST, "exp": now + 600}, **claims)
    return {"Authorization": "vapid t=%s,k=%s" % (sign(claims, key.private_key), public_key(key))}


result = {
    "accepted": push(anna, "Hello, \u00c4nna"),
    "own": push(own),
    "empty": bare(anna, TTL="0", **header()),
    "gone": push(subscription("gone")),
    "busy": push(subscription("busy")),
    "foreign": push(own, vapid=stranger),
    "audience": bare(anna, TTL="0", **header(aud="https://elsewhere.example")),
    "localhost": bare(anna, TTL="0", **header(sub="https://localhost/me")),
    "late": bare(anna, TTL="0", **header(exp=now - 5)),
    "long": bare(anna, TTL="0", **header(exp=now + 90_000)),
    "unsigned": bare(anna, TTL="0"),
    "large": push(anna, "x" * 4_000),
    "other": push(swapped),
    "topic": push(anna, headers={"Topic": "a b"}),
    "ttl": bare(anna, **header()),
    "old": push(anna, content_encoding="aesgcm"),
}
with open(FOLDER + "/pushes.json") as file:
    result["read"] = [read(item) for item in json.load(file)]
print(json.dumps(result, default=str))
