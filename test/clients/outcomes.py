"""Collects the outcome of each method of a client and prints them as JSON."""
import inspect
import json

outcomes = {}


async def call(name, method, *arguments, expect, **named):
    """Calls a function or coroutine, stores its outcome, and returns its result. A stored error is kept."""
    try:
        answer = method(*arguments, **named)
        if inspect.isawaitable(answer):
            answer = await answer
        if not expect(answer):
            raise AssertionError(f"unexpected answer {answer!r}"[:300])
        outcomes.setdefault(name, "works")
        return answer
    except Exception as error:  # every error is an outcome
        outcomes[name] = f"{type(error).__name__}: {error}"[:400]


def tell():
    print(json.dumps(dict(sorted(outcomes.items()))))
