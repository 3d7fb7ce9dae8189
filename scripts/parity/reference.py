"""What PyTorch, transformers and PEFT compute for a model, as files that scripts/parity/compare.ts reads.

    python reference.py OUT tiny:qwen3 tiny:qwen2 tiny:llama tiny:gguf NAME=FOLDER NAME=FILE.gguf

For each model OUT/NAME gets `adapter/` (made by PEFT) and `expected.safetensors`; a tiny one also `model/`.
"""
import json
import os
import shutil
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import warnings

warnings.filterwarnings("ignore", category=FutureWarning)

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

torch.set_num_threads(1)
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
LENGTHS = [9, 7, 11, 6]
"""Tokens of a sequence that are its prompt: nothing of them is trained."""
PROMPT = 3
LOW, HIGH = 0.8, 1.28
"""Of a model 32 wide; wider ones take smaller steps and adapters, or five steps would leave the clipping bounds."""
RATE, SCALE, WIDTH = 2e-4, 0.1, 32
ADAM = dict(betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
CLIP = 0.1
STEPS = 5


def load(path: str):
    """A model in f32, from a folder, a GGUF file, or a folder that holds one."""
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "config.json")):
        path = str(next(Path(path).glob("*.gguf")))
    if path.endswith(".gguf"):
        folder, file = os.path.split(path)
        model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32,
                                                     attn_implementation="eager")
        return model.eval(), AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager")
    # Not AutoTokenizer: for some families it replaces what tokenizer.json says of splitting by its own rules.
    return model.eval(), PreTrainedTokenizerFast.from_pretrained(path)


def logits_of(model, sequences):
    """Logits of every position, each sequence by itself: nothing is padded."""
    return [model(torch.tensor([s])).logits[0] for s in sequences]


def log_probabilities(logits, sequences):
    """Log-probability of every token after the first."""
    return [torch.log_softmax(row, -1)[:-1].gather(1, torch.tensor(s[1:])[:, None])[:, 0]
            for row, s in zip(logits, sequences)]


def flat(rows):
    return torch.cat([row.detach().reshape(-1, *row.shape[1:]) for row in rows]).contiguous()


def clipped_loss(logp, batch):
    """GRPO's clipped policy loss, summed: −Σ w·min(ρA, clip(ρ)·A)."""
    total = torch.zeros(())
    for row, old, advantage, weight in zip(logp, batch["old"], batch["advantages"], batch["weights"]):
        ratio = torch.exp(row - old)
        for bound in (LOW, HIGH):
            trained = (ratio - bound).abs()[weight > 0]
            assert trained.min() > 1e-4, "a ratio stands on a bound, where the loss has a kink: take another seed"
        least = torch.minimum(ratio * advantage, ratio.clamp(LOW, HIGH) * advantage)
        total = total - (weight * least).sum()
    return total


def batch_of(logp, generator):
    """One group: rewards made advantages, and log-probabilities that an older policy would have had."""
    rewards = torch.tensor([1.0, 0.0, 0.25, 0.0])
    advantages = (rewards - rewards.mean()) / (rewards.std(unbiased=False) + 1e-6)
    weights = []
    for row in logp:
        weight = torch.ones_like(row)
        weight[: PROMPT - 1] = 0
        weights.append(weight)
    tokens = sum(int(weight.sum()) for weight in weights)
    return {
        "old": [row.detach() + 0.25 * torch.randn(row.shape, generator=generator) for row in logp],
        "advantages": [torch.full_like(row, float(a)) for row, a in zip(logp, advantages)],
        "weights": [weight / tokens for weight in weights],
    }


def adapters_of(model):
    """LoRA parameters by the names that PEFT's files have."""
    return {name.replace(".default", ""): p for name, p in model.named_parameters() if "lora_" in name}


def reference(name: str, path: str, out: Path) -> None:
    model, tokenizer = load(path)
    generator = torch.Generator().manual_seed(1)
    vocabulary = model.config.vocab_size
    sequences = [torch.randint(3, vocabulary, (n,), generator=generator).tolist() for n in LENGTHS]
    expected = {
        "lengths": torch.tensor(LENGTHS, dtype=torch.float32),
        "tokens": torch.tensor([t for s in sequences for t in s], dtype=torch.float32),
    }
    with torch.no_grad():
        logits = logits_of(model, sequences)
        expected["logits"] = flat(logits)
        expected["logprobs"] = flat(log_probabilities(logits, sequences))
        prompt = sequences[0]
        greedy = list(prompt)
        chosen = []
        for _ in range(16):
            row = torch.log_softmax(model(torch.tensor([greedy])).logits[0, -1], -1)
            best = int(row.argmax())
            greedy.append(best)
            chosen.append(float(row[best]))
        expected["greedy/tokens"] = torch.tensor(greedy[len(prompt):], dtype=torch.float32)
        expected["greedy/logprobs"] = torch.tensor(chosen)

    torch.manual_seed(2)
    lora = LoraConfig(r=4, lora_alpha=8, target_modules=PROJECTIONS, task_type="CAUSAL_LM", lora_dropout=0.0)
    peft = get_peft_model(model, lora)
    with torch.no_grad():
        for key, parameter in adapters_of(peft).items():
            if "lora_B" in key:  # PEFT starts it at zero, which would hide an error
                torch.nn.init.normal_(parameter, std=SCALE * (WIDTH / model.config.hidden_size) ** 0.5)
    folder = out / name / "adapter"
    peft.save_pretrained(folder)
    (folder / "README.md").unlink()
    config = json.loads((folder / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = name
    config["target_modules"] = sorted(config["target_modules"])
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")

    adapted = logits_of(peft, sequences)
    logp = log_probabilities(adapted, sequences)
    ends = torch.tensor(LENGTHS).cumsum(0) - 1
    expected["adapter/logits"] = flat(adapted)[ends]
    expected["adapter/logprobs"] = flat(logp)
    batch = batch_of(logp, generator)
    for key, rows in batch.items():
        expected[f"grpo/{key}"] = flat(rows)
    loss = clipped_loss(logp, batch)
    loss.backward()
    expected["grpo/loss"] = loss.detach().reshape(1)
    for key, parameter in adapters_of(peft).items():
        expected[f"grpo/gradient/{key}"] = parameter.grad.clone()

    trained = list(adapters_of(peft).values())
    rate = RATE * WIDTH / model.config.hidden_size
    optimizer = torch.optim.AdamW(trained, lr=rate, **ADAM)
    expected["adamw/rate"] = torch.tensor([rate])
    losses, norms = [], []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = clipped_loss(log_probabilities(logits_of(peft, sequences), sequences), batch)
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(trained, CLIP)))
        losses.append(float(loss.detach()))
        optimizer.step()
    assert min(norms) > CLIP, f"gradients of norm {norms} are not clipped at {CLIP}"
    expected["adamw/losses"] = torch.tensor(losses)
    expected["adamw/norms"] = torch.tensor(norms)
    for key, parameter in adapters_of(peft).items():
        expected[f"adamw/parameters/{key}"] = parameter.detach().clone()
    with torch.no_grad():
        expected["adamw/logits"] = flat(logits_of(peft, sequences))[ends]
    save_file({key: value.contiguous() for key, value in expected.items()}, out / name / "expected.safetensors",
              metadata={"format": "pt"})
    text = reference_text(tokenizer)
    (out / name / "text.json").write_text(json.dumps(text, indent=1) + "\n")
    print(f"{name}: loss {losses[0]:.4f} → {losses[-1]:.4f}, gradient norm {norms[0]:.3f}", flush=True)


TEXTS = ["the agent calls a tool", '{"id": "W17", "n": 3}', "  two  spaces\n\nand lines\n", "<|im_start|>user\nhi<|im_end|>"]
TOOLS = [{"type": "function", "function": {"name": "find_order", "description": "Finds an order.", "parameters": {
    "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}}]
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is W17?"},
    {"role": "assistant", "content": "", "reasoning_content": "Look it up.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "find_order", "arguments": {"id": "W17"}}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
    {"role": "assistant", "content": "It was shipped.", "reasoning_content": "Easy."},
]


def reference_text(tokenizer) -> dict:
    """Token ids of some texts, and the chat template with tools and thinking, as transformers renders it."""
    render = lambda messages, **options: tokenizer.apply_chat_template(messages, tokenize=False, **options)
    result = {"tokens": [[text, tokenizer.encode(text, add_special_tokens=False)] for text in TEXTS]}
    if tokenizer.chat_template:
        result["chats"] = [
            {"messages": MESSAGES[:2], "options": options, "text": render(MESSAGES[:2], **options)}
            for options in ({"add_generation_prompt": True}, {"add_generation_prompt": True, "enable_thinking": False})
        ] + [{"messages": MESSAGES, "options": {"tools": TOOLS}, "text": render(MESSAGES, tools=TOOLS)}]
    return result


def main() -> None:
    out = Path(sys.argv[1])
    for argument in sys.argv[2:]:
        if argument.startswith("tiny:"):
            import tiny_models
            name = argument.removeprefix("tiny:")
            shutil.rmtree(out / name, ignore_errors=True)
            folder = out / name / "model"
            if name == "gguf":
                folder.mkdir(parents=True)
                tiny_models.write_gguf(folder / "tiny.gguf")
            else:
                tiny_models.write(name, folder)
            reference(name, str(out / name / "model"), out)
        else:
            name, path = argument.split("=", 1)
            shutil.rmtree(out / name, ignore_errors=True)
            reference(name, path, out)


if __name__ == "__main__":
    main()
