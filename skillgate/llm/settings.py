"""The settings of the layers that ask a model. Where requests, and with them a key, go is never a project's to say."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

PROVIDERS = ("anthropic", "batch", "openai-compatible", "scripted", "replay")

SETTINGS = (
    Setting(
        key="provider",
        kind=Kind.CHOICE,
        default="anthropic",
        choices=PROVIDERS,
        personal=True,
        help="Who answers: anthropic, its batches at half the price, a server that speaks OpenAI's protocol (up to"
        " depth standard), a scripted model, or a recording.",
    ),
    Setting(
        key="base-url",
        kind=Kind.TEXT,
        example="http://127.0.0.1:8080",
        personal=True,
        help="Where requests are sent; unset: the provider's own address or variable.",
    ),
    Setting(
        key="key-variable",
        kind=Kind.TEXT,
        example="GATEWAY_API_KEY",
        personal=True,
        help="The environment variable that holds the key of an openai-compatible server; unset: OPENAI_API_KEY.",
    ),
    Setting(
        key="script",
        kind=Kind.TEXT,
        example="judge-rules.yaml",
        personal=True,
        help="The rules of the scripted model; unset: it makes plausible answers up, and every report says so.",
    ),
    Setting(
        key="judge-model",
        kind=Kind.TEXTS,
        example=("claude-sonnet-5-5",),
        help="The model that judges; several take turns among the judges. Unset: the default of the dated table.",
    ),
    Setting(
        key="judges",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=9,
        example=3,
        help="How many opinions to ask for; two or more give agreement and intervals. Unset: one of each judge-model.",
    ),
    Setting(
        key="temperature",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=2,
        example=0.0,
        help="Sent to an openai-compatible server only; current Anthropic models take none.",
    ),
    Setting(
        key="max-cost-usd",
        kind=Kind.NUMBER,
        minimum=0,
        example=5.0,
        help="The most that model calls of one run may cost, in US dollars; what is left then is not measured.",
    ),
    Setting(
        key="max-calls",
        kind=Kind.INTEGER,
        minimum=0,
        example=200,
        help="The most requests that one run may send; what is left then is not measured.",
    ),
    Setting(
        key="in-flight",
        kind=Kind.INTEGER,
        default=8,
        minimum=1,
        maximum=64,
        help="How many requests may be on their way at once.",
    ),
    Setting(
        key="poll-seconds",
        kind=Kind.NUMBER,
        default=10.0,
        minimum=0.01,
        maximum=3600,
        help="How soon a batch is looked at after it was submitted; then ever less often, up to every five minutes.",
    ),
    Setting(
        key="cache-dir",
        kind=Kind.TEXT,
        example=".skillgate/cache",
        personal=True,
        help="Where a model's answers are kept between runs; unset: the system's place for caches.",
    ),
)
