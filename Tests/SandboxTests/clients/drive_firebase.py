"""Drives the sandbox's FCM port with firebase-admin. Argument: the sandbox's folder. Prints one JSON object.

The library has no setting for its host: its own requests library is told of a proxy and of an authority by environment.
"""

import json
import os
import sys

import connect_proxy

folder = sys.argv[1]
with open(folder + "/sandbox.json") as file:
    sandbox = json.load(file)
# The token endpoint shares a port with OneSignal; the library asks Google's other hosts now and then.
proxy_port, hosts = connect_proxy.start({"fcm.googleapis.com": sandbox["fcm_port"]}, sandbox["onesignal_port"])
os.environ["HTTPS_PROXY"] = "http://127.0.0.1:%d" % proxy_port
# The token endpoint stands in the credential file.
os.environ["NO_PROXY"] = "localhost"
os.environ["REQUESTS_CA_BUNDLE"] = sandbox["ca"]

import firebase_admin  # noqa: E402
from firebase_admin import credentials, exceptions, messaging  # noqa: E402


def told(call):
    try:
        return {"name": call()}
    except exceptions.FirebaseError as error:
        answer = error.http_response
        return {
            "error": type(error).__name__,
            "code": error.code,
            "status": None if answer is None else answer.status_code,
            "retry_after": None if answer is None else answer.headers.get("retry-after"),
        }


def message(token, **more):
    more.setdefault("notification", messaging.Notification(title="Order 881", body="is on its way"))
    return messaging.Message(token=token, **more)


firebase_admin.initialize_app(credentials.Certificate(sandbox["service_account"]))
result = {
    "accepted": told(lambda: messaging.send(message("t1"))),
    "android": told(
        lambda: messaging.send(
            message(
                "t2",
                data={"order": "881"},
                android=messaging.AndroidConfig(priority="high", ttl=3600, collapse_key="order-881"),
                apns=messaging.APNSConfig(headers={"apns-priority": "10"}),
            )
        )
    ),
    "topic": told(lambda: messaging.send(messaging.Message(topic="weather", data={"k": "v"}))),
    "dry_run": told(lambda: messaging.send(message("t3"), dry_run=True)),
    "dead": told(lambda: messaging.send(message("dead-1"))),
    "quota": told(lambda: messaging.send(message("quota-1"))),
    "hiccup": told(lambda: messaging.send(message("hiccup-1"))),
    "fault": told(lambda: messaging.send(message("fault-1"))),
    "large": told(lambda: messaging.send(message("t4", data={"k": "x" * 5000}))),
}
batch = messaging.send_each([message("t%d" % number) for number in range(10, 20)])
result["each"] = [{"name": answer.message_id, "success": answer.success} for answer in batch.responses]
result["hosts"] = sorted(set(hosts))
print(json.dumps(result))
