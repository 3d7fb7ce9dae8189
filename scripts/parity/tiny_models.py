"""Tiny randomly initialised models as Hugging Face folders, written by transformers: one of each family.

They differ on purpose where folders differ: Qwen3 is one f32 file with a tied head, Qwen2.5 is bf16 in shards, Llama
is f16 with llama3's rotary scaling, a head of its own and the names that transformers 4 gave to the configuration.
"""
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen3Config

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PRINTABLE = "".join(chr(code) for code in range(32, 127)) + "\n"
CORPUS = [
    PRINTABLE,
    "the agent calls a tool and reads the answer\n",
    '{"name": "find_order", "arguments": {"id": "W17"}}\n',
    "<tool_call> </tool_call> <tool_response> </tool_response> <think> </think>\n",
]
VOCABULARY = 160

# Tools and thinking in the manner of ChatML templates.
TEMPLATE = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- '# Tools\\n<tools>' }}
    {%- for tool in tools %}{{- '\\n' ~ (tool | tojson) }}{%- endfor %}
    {{- '\\n</tools><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(last_user=-1) %}
{%- for message in messages %}
    {%- if message.role == 'user' %}{%- set ns.last_user = loop.index0 %}{%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if message.reasoning_content is defined and message.reasoning_content and loop.index0 > ns.last_user %}
            {{- '<think>\\n' + message.reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- message.content if message.content is string else '' }}
        {%- for call in message.tool_calls or [] %}
            {%- set call = call.function if call.function else call %}
            {{- '\\n<tool_call>\\n{"name": "' ~ call.name ~ '", "arguments": ' }}
            {{- call.arguments if call.arguments is string else call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}
"""

SIZES = dict(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=128, bos_token_id=None, eos_token_id=2, pad_token_id=0)
LLAMA3 = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)

CONFIGS = {
    "qwen3": Qwen3Config(**SIZES, head_dim=16, tie_word_embeddings=True,
                         rope_parameters=dict(rope_type="default", rope_theta=5000.0)),
    "qwen2": Qwen2Config(**SIZES, tie_word_embeddings=True),
    "llama": LlamaConfig(**SIZES, tie_word_embeddings=False, rms_norm_eps=1e-5, rope_parameters=LLAMA3),
}
DTYPES = {"qwen3": torch.float32, "qwen2": torch.bfloat16, "llama": torch.float16}


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE over printable ASCII, with the special tokens of ChatML."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False)
    bpe.train_from_iterator(CORPUS, trainer)
    assert bpe.get_vocab_size() == VOCABULARY
    fast = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = TEMPLATE
    return fast


def old_names(config: dict) -> dict:
    """The configuration as transformers 4 wrote it."""
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = rope
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    return config


def write(name: str, folder: Path) -> None:
    """Writes the tiny model of a family. Every parameter gets noise: norms start at 1 and biases at 0, and would hide
    an error."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(CONFIGS[name], dtype=torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.to(DTYPES[name]).save_pretrained(folder, **({"max_shard_size": "20KB"} if name == "qwen2" else {}))
    tokenizer().save_pretrained(folder)
    if name == "llama":
        file = folder / "config.json"
        file.write_text(json.dumps(old_names(json.loads(file.read_text())), indent=2) + "\n")


def permuted(weight, heads: int):
    """The order of a head's rows that llama.cpp's rotary positions want."""
    rows, columns = weight.shape
    halves = weight.reshape(heads, 2, rows // heads // 2, columns)
    return halves.swapaxes(1, 2).reshape(rows, columns)


def write_gguf(file: Path) -> None:
    """A tiny Llama as a GGUF file that mixes the tensor types whose blocks are 32 wide."""
    import gguf

    torch.manual_seed(0)
    config = LlamaConfig(**SIZES, tie_word_embeddings=True, rms_norm_eps=1e-5)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
             "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
             "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    top = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    Type = gguf.GGMLQuantizationType
    types = {"token_embd": Type.Q8_0, "attn_q": Type.Q8_0, "attn_k": Type.F16, "ffn_gate": Type.Q4_0,
             "ffn_up": Type.Q4_1}
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    own = json.loads(tokenizer()._tokenizer.to_str())["model"]
    tokens = sorted(own["vocab"], key=own["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([" ".join(pair) for pair in own["merges"]])
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    generator = torch.Generator().manual_seed(3)
    for name, parameter in model.named_parameters():
        data = parameter.detach() + 0.1 * torch.randn(parameter.shape, generator=generator)
        if name in top:
            target = top[name]
        else:
            _, _, layer, part = name.split(".", 3)
            part, kind = part.rsplit(".", 1)
            target = f"blk.{layer}.{names[part]}.{kind}"
        if ".attn_q." in target:
            data = permuted(data, config.num_attention_heads)
        if ".attn_k." in target:
            data = permuted(data, config.num_key_value_heads)
        kind = next((t for key, t in types.items() if key in target), Type.F32)
        quantized = gguf.quants.quantize(data.contiguous().numpy(), kind)
        writer.add_tensor(target, quantized, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
