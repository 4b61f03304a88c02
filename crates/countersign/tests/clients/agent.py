"""An agent's life through the `mcp` package: stdio COMMAND... or http URL TOKEN, in the revision named first."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

RUN = "11111111-1111-4111-8111-111111111111"


async def main(mode, kind, *target):
    if kind == "stdio":
        server = StdioServerParameters(command=target[0], args=list(target[1:]))
    else:
        client = create_mcp_http_client(headers={"Authorization": f"Bearer {target[1]}"})
        server = streamable_http_client(target[0], http_client=client)
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        seen = {"protocol": client.protocol_version}
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]

        async def call(name, **arguments):
            # The package holds every answer to the schema that the tool promised.
            result = await client.call_tool(name, arguments)
            return result.is_error, result.structured_content

        _, seen["next"] = await call("next")
        _, claim = await call("claim", task_id="T-1")
        lease = claim["answer"]["lease"]
        seen["claimed"] = claim["answer"]["status"]
        refused, again = await call("claim", task_id="T-2")
        seen["refused"] = [refused, again["code"]]
        _, may = await call("may_i_change", path="vendor/a.rs")
        seen["may"] = [may["allow"], may["code"]]
        await call("heartbeat", task_id="T-1", lease=lease)
        entry = {"action": "edit", "decision": "decimal", "result": "tests pass", "next_step": "submit"}
        await call("worklog", task_id="T-1", lease=lease, **entry)
        _, assignment = await call("assignment", task_id="T-1")
        result = {
            "schema_version": "1.0.0",
            "run_id": RUN,
            "task_id": "T-1",
            "status": "done",
            "changes": [{"resource": "src/money/round.rs", "action": "edit"}],
            "acceptance_check": [
                {"criterion": criterion, "status": "pass", "evidence": "cargo test money: 14 passed"}
                for criterion in assignment["answer"]["assignment"]["task"]["acceptance_criteria"]
            ],
            "worklog_path": assignment["answer"]["assignment"]["task"]["worklog_path"],
            "notes_for_orchestrator": [],
        }
        _, checked = await call("check", document=result)
        seen["checked"] = checked["allow"]
        _, submitted = await call("submit", lease=lease, result=result)
        seen["submitted"] = submitted.get("answer", submitted).get("assurance", submitted)
        page = await client.list_resources()
        seen["resources"] = len(page.resources)
        read = await client.read_resource(f"countersign://runs/{RUN}/tasks/T-1")
        seen["status"] = json.loads(read.contents[0].text)["task"]["status"]
        prompt = await client.get_prompt("worker", {"task_id": "T-2"})
        seen["prompt"] = "T-2" in prompt.messages[0].content.text
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
