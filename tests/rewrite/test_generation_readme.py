"""The README's example of a generated answer runs, against a scripted endpoint over real HTTP."""

import asyncio
import json
import re
import sys
from pathlib import Path

from tests.server.upstream_script import chat_completion, json_answer, serving_upstream

ROOT = Path(__file__).parents[2]
URL = "http://localhost:11434"


def test_the_example_of_a_generated_answer_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    example = next(block for block in blocks if "guard.generate" in block)
    said = {"statements": [{"text": "Partners are entitled to 2 weeks of leave.", "sources": ["e1"]}], "missing": ""}

    async def scene() -> str:
        async with serving_upstream() as upstream:
            upstream.script(json_answer(chat_completion(json.dumps(said))))
            setting = (
                'import assay\npassages = [{"id": "hr-2", "text": "Partners are entitled to 2 weeks of leave."}]\n'
            )
            code = setting + example.replace(URL, upstream.url)
            running = await asyncio.create_subprocess_exec(
                sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, cwd=ROOT
            )
            out, _ = await running.communicate()
            assert running.returncode == 0
            return out.decode()

    lines = asyncio.run(asyncio.wait_for(scene(), 120)).splitlines()
    assert lines[0] == "emit Partners are entitled to 2 weeks of leave [hr-2]."
    assert lines[1] == "grounded [('kept', 'Partners are entitled to 2 weeks of leave.')]"
    assert lines[2] == "21 tokens"
