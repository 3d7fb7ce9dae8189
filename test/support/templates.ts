/** Chat templates for tests, in the manner of ChatML models. */

const HEAD = `{%- if tools %}<|im_start|>system
{{ messages[0].content if messages[0].role == 'system' else '' }}
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}`;

const CALLS = `{%- if message.tool_calls %}{% for call in message.tool_calls %}<tool_call>{"name":"{{ call.function.name }}","arguments":{{ call.function.arguments | tojson }}}</tool_call>{% endfor %}{% endif %}`;

const TAIL = `{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

/** Every message is written by itself. */
export const LOCAL_TEMPLATE = `${HEAD}
{%- for message in messages %}{% if message.role != 'system' %}<|im_start|>{{ message.role }}
{{ message.content }}${CALLS}<|im_end|>
{% endif %}{% endfor %}${TAIL}`;

/** Thinking of the turns before the last user message is left out, as Qwen3 does. */
export const FORGETFUL_TEMPLATE = `${HEAD}
{%- set state = namespace(last=0) %}
{%- for message in messages %}{% if message.role == 'user' %}{% set state.last = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}{% if message.role != 'system' %}<|im_start|>{{ message.role }}
{% if message.reasoning_content and loop.index0 > state.last %}<think>{{ message.reasoning_content }}</think>{% endif %}{{ message.content }}${CALLS}<|im_end|>
{% endif %}{% endfor %}${TAIL}`;

/** Each turn is numbered: what follows a turn depends on everything before it. */
export const NUMBERED_TEMPLATE = `{%- for message in messages %}<|im_start|>{{ loop.index }} {{ message.role }}
{{ message.content }}${CALLS}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>{{ messages | length + 1 }} assistant
{% endif %}`;
