"""Drives the sandbox's APNs port with aioapns. Argument: the sandbox's folder. Prints one JSON object."""

import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

BURST = 200


def request(number, token=None, **more):
    more.setdefault("push_type", PushType.ALERT)
    more.setdefault("message", {"aps": {"alert": "push %d" % number}, "number": number})
    return NotificationRequest(device_token=token or "%064x" % number, **more)


async def drive(folder):
    with open(folder + "/sandbox.json") as file:
        sandbox = json.load(file)
    # The library's hosts, in this process only.
    APNsProductionClientProtocol.APNS_SERVER = sandbox["host"]
    APNsProductionClientProtocol.APNS_PORT = sandbox["apns_port"]
    with open(sandbox["apns_key"]) as file:
        key = file.read()

    async def refused(request, result):
        pass

    client = APNs(
        key=key,
        key_id=sandbox["key_id"],
        team_id=sandbox["team_id"],
        topic=sandbox["topic"],
        max_connections=1,
        ssl_context=ssl.create_default_context(cafile=sandbox["ca"]),
        err_func=refused,
    )

    def told(result):
        return {
            "id": result.notification_id,
            "status": int(result.status),
            "reason": result.description,
            "timestamp": result.timestamp,
        }

    # A connection carries one request until the first is accepted.
    first = await client.send_notification(request(0))
    burst = await asyncio.gather(
        *(client.send_notification(request(number)) for number in range(1, BURST + 1))
    )
    single = {
        "silent": request(
            1001, message={"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND, priority=5, time_to_live=60
        ),
        "collapsed": request(1002, collapse_key="order-881", priority=10),
        "malformed": request(1003, token="not-hex"),
        "dead": request(1004, token="dead" + "0" * 60),
        "large": request(1005, message={"aps": {"alert": "x" * 5000}}),
        "urgent_silent": request(
            1006, message={"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND, priority=10
        ),
        "other_topic": request(1007, apns_topic="com.other.app"),
    }
    answers = {name: told(await client.send_notification(each)) for name, each in single.items()}
    client.pool.close()
    return {"first": told(first), "burst": [told(result) for result in burst], "single": answers}


print(json.dumps(asyncio.run(drive(sys.argv[1]))))
