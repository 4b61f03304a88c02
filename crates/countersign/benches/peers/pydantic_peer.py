"""Prints the nanoseconds that pydantic takes to validate one document from bytes, best of many turns."""

import sys
import time
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]
RunId = Annotated[str, Field(pattern=r"^[0-9a-fA-F-]{36}$")]
TaskId = Annotated[str, Field(pattern=r"^(T-[0-9]+|[0-9a-fA-F-]{36})$")]


class ActiveLock(BaseModel):
    task_id: TaskId
    resource: Text
    active: bool


class ContextItem(BaseModel):
    kind: Literal["file", "note", "command", "constraint"]
    value: str


class Task(BaseModel):
    task_id: TaskId
    title: Annotated[str, Field(min_length=1, max_length=500)]
    type: Literal["parallelizable", "serial"]
    dependencies: list[TaskId]
    lock_scope: Annotated[list[Text], Field(min_length=1)]
    forbidden_scope: list[Text]
    acceptance_criteria: Annotated[list[Text], Field(min_length=1)]
    worklog_path: Annotated[str, Field(min_length=1, max_length=1000)]
    timeout_seconds: Annotated[int, Field(ge=30)]
    heartbeat_interval_seconds: Annotated[int, Field(ge=5)]
    priority: Literal["low", "normal", "high", "critical"] = "normal"


class Assignment(BaseModel):
    schema_version: Annotated[str, Field(pattern=r"^1\.[0-9]+\.[0-9]+$")]
    run_id: RunId
    packet_type: Literal["assignment"]
    generated_at: datetime | None = None
    global_objective: Annotated[str, Field(min_length=1, max_length=5000)]
    task: Task
    active_locks: list[ActiveLock]
    context_package: list[ContextItem]
    required_output_schema: Literal["subagent_result_v1"]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Source(BaseModel):
    skill: Text
    workflow_id: Text
    session_path: Text
    phase: Text


class Target(BaseModel):
    skill: Text
    invocation: str | None = None
    category: str | None = None
    expected_phase: str | None = None


class Context(BaseModel):
    summary: Annotated[str, Field(min_length=1, max_length=500)]
    problem_type: Literal[
        "decision", "creative", "analytical", "strategic", "implementation", "research", "verification"
    ]
    original_prompt: str | None = None
    focus_areas: list[str] | None = None
    known_gaps: list[str] | None = None
    success_criteria: list[str] | None = None


class Artifact(BaseModel):
    name: Text
    path: Text
    type: Literal["specification", "analysis", "code", "documentation", "data", "model", "report"]
    description: str | None = None
    checksum: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None


class Session(BaseModel):
    artifacts: list[Artifact] | None = None
    state: Any = None


class FileReference(BaseModel):
    path: Text
    description: str | None = None
    relevance: Literal["critical", "important", "optional"] | None = None


class UrlReference(BaseModel):
    url: Text
    description: str | None = None


class References(BaseModel):
    files: list[FileReference] | None = None
    urls: list[UrlReference] | None = None


class Payload(BaseModel):
    working: dict[str, Any]
    session: Session | None = None
    references: References | None = None


class Meta(BaseModel):
    token_count: Annotated[int, Field(ge=0, le=2000)]
    confidence: Literal["high", "medium", "low"]
    handoff_chain: Annotated[list[str], Field(min_length=1)] | None = None
    handoff_reason: str | None = None
    payload_hash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    payload_size_bytes: int | None = None
    user_approved: bool | None = None


class Handoff(Closed):
    version: Literal["3.0"]
    schema_type: Literal["universal"]
    timestamp: datetime
    expires_at: datetime | None = None
    trace_id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]
    source: Source
    target: Target
    context: Context
    payload: Payload
    meta: Meta
    tracing: Any = None


class Root(Closed):
    handoff: Handoff


def main() -> None:
    model = {"assignment": Assignment, "universal_handoff": Root}[sys.argv[1]]
    with open(sys.argv[2], "rb") as file:
        document = file.read()
    model.model_validate_json(document)
    best = float("inf")
    for _ in range(60):
        start = time.perf_counter_ns()
        count = 0
        while True:
            for _ in range(20):
                model.model_validate_json(document)
            count += 20
            taken = time.perf_counter_ns() - start
            if taken >= 10_000_000:
                break
        best = min(best, taken / count)
    print(best)


main()
