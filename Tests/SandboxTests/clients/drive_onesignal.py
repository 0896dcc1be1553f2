"""Drives the sandbox's OneSignal port with onesignal-python-api. Argument: the sandbox's folder. Prints one JSON object."""

import json
import sys
from datetime import datetime, timezone

import onesignal
from onesignal.api import default_api
from onesignal.model.notification import Notification

SUBSCRIPTION = "1dd608f2-c6a1-11e3-851d-000c2940e6%02x"

with open(sys.argv[1] + "/sandbox.json") as file:
    sandbox = json.load(file)
APP = sandbox["app_id"]
configuration = onesignal.Configuration(
    host="https://localhost:%d" % sandbox["onesignal_port"],
    rest_api_key=sandbox["api_key"],
    ssl_ca_cert=sandbox["ca"],
)


def whole(value):
    """The library makes every number a float."""
    if isinstance(value, dict):
        return {key: whole(each) for key, each in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def told(call):
    try:
        return {"status": 200, "answer": whole(call().to_dict())}
    except onesignal.ApiException as error:
        return {
            "status": error.status,
            "error": type(error).__name__,
            "body": error.body if isinstance(error.body, str) else (error.body or b"").decode(),
            "retry_after": (error.headers or {}).get("retry-after"),
        }


def notification(*members, **more):
    more.setdefault("contents", {"en": "is on its way"})
    return Notification(app_id=APP, include_subscription_ids=[SUBSCRIPTION % member for member in members], **more)


with onesignal.ApiClient(configuration) as client:
    api = default_api.DefaultApi(client)
    create = lambda *members, **more: told(lambda: api.create_notification(notification(*members, **more)))
    view = lambda id: told(lambda: api.get_notification(APP, id))
    result = {
        "accepted": create(1, 2, headings={"en": "Order 881"}, name="order"),
        "partial": create(1, 0xDD),
        "nobody": create(0xEE),
        "quota": create(0x42),
        "fault": create(0x50),
        "malformed": told(lambda: api.create_notification(Notification(app_id=APP, include_subscription_ids=["abc"],
                                                                       contents={"en": "x"}))),
        "later": create(3, send_after=datetime(2099, 1, 5, tzinfo=timezone.utc)),
        "unknown": view("b98881cc-1e94-4366-bbd9-db8f3429292b"),
    }
    key = "0f8a1f0e-5d0a-4c8b-8a55-8f3f5f1d2c11"
    result["first"] = create(4, idempotency_key=key)
    result["again"] = create(4, idempotency_key=key)
    for name in ["accepted", "partial", "later"]:
        result["view_" + name] = view(result[name]["answer"]["id"])
    result["cancel"] = told(lambda: api.cancel_notification(APP, result["later"]["answer"]["id"]))
    result["view_canceled"] = view(result["later"]["answer"]["id"])
print(json.dumps(result, default=str))
