"""Write `shop.eval` with the release of Inspect AI that is installed, and without a network.

::

    python tests/corpora/inspect/write_log.py [FOLDER]

The mock models answer by what they are asked, so that a log differs from another of the same release
by its ids and times alone. Each answer states its usage: without that, the mock model would fetch a
tokenizer. Afterwards a person changes one score, as a reviewer does in Inspect's viewer; and what only
says where the run was made (paths in tracebacks, the commit) is taken out.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def write(folder: Path) -> Path:
    """Run the task twice a sample, and return the log."""
    from inspect_ai import eval as run
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from shop import shop

    def out(made: ModelOutput) -> ModelOutput:
        made.usage = ModelUsage(input_tokens=40, output_tokens=8, total_tokens=48)
        return made

    def agent(messages, tools, tool_choice, config):
        last, asked = messages[-1], " ".join(m.text for m in messages if m.role == "user")
        if last.role == "tool":
            done = "I cannot refund that." if last.error else "It is refunded."
            return out(ModelOutput.from_content("mockllm/agent", done))
        if "Refund" in asked:
            amount = (
                {"order": 9, "amount": 900.0} if "900" in asked else {"order": 8, "amount": 12.5}
            )
            made = ModelOutput.for_tool_call(
                "mockllm/agent", "refund", amount, content="I refund it."
            )
            return out(made)
        return out(ModelOutput.from_content("mockllm/agent", "It is blue."))

    asked: dict[str, int] = {}

    def grader(messages, tools, tool_choice, config):
        text = messages[-1].text
        asked[text] = asked.get(text, 0) + 1
        if "colour" in text:
            return out(ModelOutput.from_content("mockllm/grader", "I see no refund."))
        grade = "I" if "900" in text else "C"
        return out(ModelOutput.from_content("mockllm/grader", f"Looked at.\nGRADE: {grade}"))

    logs = run(
        shop(),
        model=get_model("mockllm/agent", custom_outputs=agent, memoize=False),
        model_roles={"grader": get_model("mockllm/grader", custom_outputs=grader, memoize=False)},
        epochs=2,
        log_dir=str(folder),
        display="none",
        log_format="eval",
    )
    return reviewed(Path(logs[0].location.removeprefix("file://")))


def reviewed(path: Path) -> Path:
    """Change one score by hand and take the places out; Inspect writes the file again."""
    from inspect_ai.log import ProvenanceData, edit_score, read_eval_log, write_eval_log
    from inspect_ai.scorer import ScoreEdit

    log = read_eval_log(str(path))
    why = ProvenanceData(author="a reviewer", reason="the refund was not asked for")
    edit_score(log, 1, "careful", ScoreEdit(value="I", provenance=why), epoch=2)
    log.eval.task_file, log.eval.revision = "shop.py", None
    for sample in log.samples or []:
        errors = [sample.error, *(getattr(e, "error", None) for e in sample.events)]
        for error in errors:
            if hasattr(error, "traceback"):
                error.traceback = error.traceback_ansi = ""
    write_eval_log(log, str(path))
    return path


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        log = write(Path(made))
        to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
        (to / "shop.eval").write_bytes(log.read_bytes())
    print(to / "shop.eval")
