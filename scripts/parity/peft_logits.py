"""Logits of adapters that TRACE saved, as PEFT loads them.

    python peft_logits.py JOBS.json

JOBS.json is a list of {model, adapter, tokens: [[ids]], out}; `out` gets the logits of each sequence's last position.
"""
import json
import sys
import warnings

from reference import load, logits_of, torch

from peft import PeftModel
from safetensors.torch import save_file

# PEFT only warns of tensors it misses: here that is a failure.
warnings.filterwarnings("error", message=".*missing adapter keys.*")

with open(sys.argv[1]) as file:
    jobs = json.load(file)
for job in jobs:
    model, _ = load(job["model"])
    peft = PeftModel.from_pretrained(model, job["adapter"]).eval()
    with torch.no_grad():
        rows = torch.stack([row[-1] for row in logits_of(peft, job["tokens"])])
    save_file({"logits": rows}, job["out"])
