"""Random blocks of every GGUF tensor type that is read, with their numbers as Python's gguf dequantises them.

    python gguf_blocks.py FILE.json
"""
import base64
import json
import sys

import gguf
import numpy as np

# Where a block's half-precision scales are: random bytes there might be NaN.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}
BLOCKS = 2
random = np.random.default_rng(0)
result = {}
for name, scales in SCALES.items():
    kind = gguf.GGMLQuantizationType[name]
    _, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    for at in scales:
        blocks[:, at : at + 2] = random.normal(0, 0.1, BLOCKS).astype(np.float16).view(np.uint8).reshape(BLOCKS, 2)
    numbers = gguf.quants.dequantize(blocks, kind).astype(np.float32)
    result[name] = {"bytes": base64.b64encode(blocks.tobytes()).decode(), "floats": base64.b64encode(numbers.tobytes()).decode()}
with open(sys.argv[1], "w") as file:
    json.dump(result, file, indent=1)
    file.write("\n")
