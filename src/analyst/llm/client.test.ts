import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Journal } from '../../run/journal.js';
import type { Task } from '../prompted/task.js';
import { LlmAsker } from './asker.js';
import { LlmClient, limitedFetch, type ModelRequest, RequestError } from './client.js';
import { openModel } from './provider.js';
import { Secrets } from './secrets.js';
import { LLM_DEFAULTS, type LlmSettings } from './settings.js';
import { Spending } from './spending.js';

type Handler = (body: Body, response: ServerResponse, times: number, request: IncomingMessage) => void;
interface Body {
  readonly max_tokens: number;
  readonly response_format?: { readonly type: string };
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

let server: Server | null = null;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(null)));
  server = null;
});

async function endpoint(handler: Handler): Promise<{ url: string; bodies: Body[] }> {
  const bodies: Body[] = [];
  server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text) as Body;
    bodies.push(body);
    handler(body, response, bodies.length, request);
  });
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

const json = (response: ServerResponse, status: number, value: unknown) => {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
};
const answer = (
  response: ServerResponse,
  content: string,
  usage: object | null = { prompt_tokens: 10, completion_tokens: 5 },
) =>
  json(response, 200, {
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    ...(usage ? { usage } : {}),
  });

const settings = (url: string, more: Partial<LlmSettings> = {}): LlmSettings => ({
  ...LLM_DEFAULTS,
  model: 'm',
  baseUrl: url,
  backoffSeconds: 0.001,
  maxOutputTokens: 100,
  ...more,
});
const NOTHING = { answers: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };

async function clientOf(used: LlmSettings, environment: Record<string, string> = {}, signal?: AbortSignal) {
  const model = await openModel(used, { environment, project: '/', fetch: limitedFetch(fetch) });
  const spending = new Spending(used, NOTHING);
  const parts = { spending, secrets: new Secrets(environment), ...(signal ? { signal } : {}) };
  return { client: new LlmClient(model, used, parts), spending };
}
const request = (text = 'question', key = text): ModelRequest => ({
  key,
  system: 'system',
  turns: [{ role: 'user', parts: [text] }],
  schema: { type: 'object', properties: {} },
});
const ignore = () => {};

describe('tries again', () => {
  test.each([429, 500, 503, 529, 408])('after status %i', async (status) => {
    const { url, bodies } = await endpoint((_, response, times) =>
      times < 3 ? json(response, status, { error: 'no' }) : answer(response, 'yes'),
    );
    const { client } = await clientOf(settings(url));
    expect((await client.complete(request(), ignore)).text).toBe('yes');
    expect(bodies).toHaveLength(3);
  });

  test('as late as Retry-After says', async () => {
    const { url } = await endpoint((_, response, times) => {
      if (times > 1) return answer(response, 'yes');
      response.setHeader('retry-after', '0.3');
      return json(response, 429, {});
    });
    const { client } = await clientOf(settings(url));
    const began = performance.now();
    await client.complete(request(), ignore);
    // A lower bound: a timer never fires early by more than its own grain.
    expect(performance.now() - began).toBeGreaterThan(290);
  });

  test('when no answer comes in time, the connection breaks, or the body is no JSON', async () => {
    const { url, bodies } = await endpoint((_, response, times) => {
      if (times === 1) return;
      if (times === 2) {
        response.setHeader('content-length', '999');
        response.write('{"choices"', () => response.destroy());
      } else if (times === 3) response.end('<html>');
      else answer(response, 'yes');
    });
    const { client } = await clientOf(settings(url, { timeoutSeconds: 1 }));
    expect((await client.complete(request(), ignore)).text).toBe('yes');
    expect(bodies).toHaveLength(4);
  });

  test('but not for ever: the request is given up, and after five in a row the endpoint', async () => {
    const { url, bodies } = await endpoint((_, response) =>
      json(response, 500, { error: { message: 'broken' } }),
    );
    const { client } = await clientOf(settings(url, { retries: 1 }));
    for (let i = 0; i < 4; i++)
      await expect(client.complete(request(`q${i}`), ignore)).rejects.toThrow(RequestError);
    await expect(client.complete(request('last'), ignore)).rejects.toThrow(
      /5 requests in a row got no answer; the last: the endpoint answered 500: broken/,
    );
    expect(bodies).toHaveLength(10);
  });
});

describe('says what to set', () => {
  test('a wrong key, which is nowhere in the words', async () => {
    const { url } = await endpoint((_, response, __, incoming) =>
      json(response, 401, { error: { message: `bad key ${incoming.headers.authorization}` } }),
    );
    const { client } = await clientOf(settings(url), { TRACE_LLM_API_KEY: 'sk-secret-12345' });
    const error = await client.complete(request(), ignore).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 2, mend: expect.stringContaining('TRACE_LLM_API_KEY') });
    expect(String(error)).toContain('bad key Bearer [secret]');
  });

  test('a wrong model or path; nothing that listens', async () => {
    const { url } = await endpoint((_, response) =>
      json(response, 404, { error: { message: 'no such model' } }),
    );
    const { client } = await clientOf(settings(url));
    await expect(client.complete(request(), ignore)).rejects.toMatchObject({
      message: expect.stringContaining('no such model'),
      mend: expect.stringContaining('--model'),
    });
    const nobody = await clientOf(settings('http://127.0.0.1:9/v1'));
    await expect(nobody.client.complete(request(), ignore)).rejects.toMatchObject({
      message: expect.stringContaining('cannot be reached at http://127.0.0.1:9/v1'),
    });
  });

  test.each([
    [{ provider: 'anthropic' }, 'ANTHROPIC_API_KEY'],
    [{}, 'OPENAI_API_KEY'],
    [{ apiKeyEnv: 'MINE', baseUrl: 'http://localhost/v1' }, 'MINE'],
    [{ provider: '@ai-sdk/no-such-provider' }, 'npm install @ai-sdk/no-such-provider'],
    [{ provider: '../x' }, 'no package'],
    [{ baseUrl: 'http://me:secret@localhost/v1' }, 'environment only'],
    [{ baseUrl: 'localhost' }, 'address'],
  ])('%o', async (given, words) => {
    const error = await openModel(
      { ...LLM_DEFAULTS, model: 'm', ...given },
      { environment: {}, project: '/', fetch },
    ).catch((thrown: unknown) => thrown as Error & { mend: string });
    expect(`${(error as Error).message} ${(error as { mend: string }).mend}`).toContain(words);
  });
});

describe('finds the form that the endpoint takes', () => {
  test.each([
    [['json_schema'], 'json_object'],
    [['json_schema', 'json_object'], undefined],
    [[], 'json_schema'],
  ])('without %o it is %s', async (unknown, used) => {
    const { url, bodies } = await endpoint((body, response) => {
      const type = body.response_format?.type;
      if (type && (unknown as string[]).includes(type))
        return json(response, 400, { error: { message: 'bad request' } });
      return answer(response, '{}');
    });
    const { client } = await clientOf(settings(url));
    await client.complete(request('one'), ignore);
    await client.complete(request('two'), ignore);
    expect(bodies).toHaveLength(2 + unknown.length);
    expect(bodies.at(-1)!.response_format?.type).toBe(used);
  });

  test('a request that is too long is refused by itself', async () => {
    const { url } = await endpoint((body, response) =>
      body.messages[1]!.content === 'long'
        ? json(response, 400, { error: { message: 'maximum context length is 10 tokens' } })
        : answer(response, '{}'),
    );
    const { client } = await clientOf(settings(url));
    await expect(client.complete(request('long'), ignore)).rejects.toThrow(/maximum context length/);
    await client.complete(request('short'), ignore);
  });
});

describe('spending', () => {
  test('a hard stop: no request is sent that might not fit, and what is on its way is waited for', async () => {
    const { url, bodies } = await endpoint((_, response) =>
      answer(response, 'yes', { prompt_tokens: 60, completion_tokens: 40 }),
    );
    // A request takes at most 100 out and some 60 in; each turns out to take 100.
    const { client, spending } = await clientOf(settings(url, { budget: { tokens: 500 }, concurrency: 4 }));
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => client.complete(request(`q${i}`), ignore)),
    );
    const failed = results.filter((result) => result.status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    expect(bodies.length + failed.length).toBe(8);
    const { inputTokens, outputTokens } = spending.spent;
    expect(inputTokens + outputTokens).toBe(bodies.length * 100);
    expect(inputTokens + outputTokens).toBeLessThanOrEqual(500);
    expect(bodies.length).toBeGreaterThanOrEqual(3);
    expect(String(failed[0]!.reason)).toContain('the budget of 500 tokens is used up');
  });

  test('money by price, cached input by its own', async () => {
    const { url } = await endpoint((_, response) =>
      answer(response, 'yes', {
        prompt_tokens: 1_000_000,
        completion_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 500_000 },
      }),
    );
    const { client, spending } = await clientOf(
      settings(url, { price: { input: 3, output: 15, cachedInput: 0.3 } }),
    );
    await client.complete(request(), ignore);
    // 0.5 · 3 + 0.5 · 0.3 + 0.1 · 15
    expect(spending.words()).toContain('$3.15');
  });

  test('where the endpoint does not count, it is estimated', async () => {
    const { url } = await endpoint((_, response) => answer(response, 'x'.repeat(350), null));
    const { client, spending } = await clientOf(settings(url));
    await client.complete(request('y'.repeat(344)), ignore);
    // 3.5 bytes a token: 350 of the answer; 6 of the system and 344 of the question.
    expect(spending.spent).toMatchObject({ outputTokens: 100, inputTokens: 101 });
  });
});

test('at most so many requests at once', async () => {
  let now = 0;
  let most = 0;
  const { url } = await endpoint((_, response) => {
    most = Math.max(most, ++now);
    setTimeout(() => {
      now--;
      answer(response, 'yes');
    }, 20);
  });
  const { client } = await clientOf(settings(url, { concurrency: 3 }));
  await Promise.all(Array.from({ length: 9 }, (_, i) => client.complete(request(`q${i}`), ignore)));
  expect(most).toBe(3);
});

test('asked to stop, it sends nothing more and does not wait', async () => {
  const { url, bodies } = await endpoint((_, response) => json(response, 500, {}));
  const controller = new AbortController();
  const { client } = await clientOf(settings(url, { backoffSeconds: 60 }), {}, controller.signal);
  const running = client.complete(request(), ignore);
  while (bodies.length === 0) await new Promise((wait) => setTimeout(wait, 5));
  controller.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
  expect(bodies).toHaveLength(1);
});

test('a provider by the name of its package', async () => {
  const { url, bodies } = await endpoint((_, response) => answer(response, 'yes'));
  const { client } = await clientOf(settings(url, { provider: '@ai-sdk/openai-compatible' }));
  expect((await client.complete(request(), ignore)).text).toBe('yes');
  expect(bodies).toHaveLength(1);
});

test('Anthropic: what raters share is marked for its cache', async () => {
  const { url, bodies } = await endpoint((_, response) =>
    json(response, 200, {
      type: 'message',
      id: 'a',
      model: 'm',
      role: 'assistant',
      content: [{ type: 'text', text: '{"a":1}' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 20 },
    }),
  );
  const { client, spending } = await clientOf(settings(url, { provider: 'anthropic' }), {
    TRACE_LLM_API_KEY: 'sk-secret-12345',
  });
  const turns = [{ role: 'user' as const, parts: ['shared', 'own'] }];
  expect((await client.complete({ ...request(), turns }, ignore)).text).toBe('{"a":1}');
  const [first, second] = bodies[0]!.messages[0]!.content as unknown as {
    text: string;
    cache_control?: object;
  }[];
  expect(first).toMatchObject({ text: 'shared', cache_control: { type: 'ephemeral' } });
  expect(second).not.toHaveProperty('cache_control');
  expect(spending.spent).toEqual({ answers: 1, inputTokens: 27, cachedTokens: 20, outputTokens: 3 });
});

describe('questions', () => {
  /** Wants `{"n": 3}`. */
  const task: Task<number> = {
    purpose: 'label',
    id: 'x',
    salt: '',
    prompt: (attempt) => ({ system: 's', user: [`how many? try ${attempt}`], schema: { type: 'object' } }),
    check: (value) =>
      (value as { n?: unknown }).n === 3
        ? { value: 3, problems: [] }
        : { value: null, problems: ['n is not 3'] },
    combine: (_, later) => later,
    isComplete: () => true,
  };
  const ask = async (
    answers: (string | null)[],
    journal = new Journal(':memory:'),
    more: Partial<LlmSettings> = {},
  ) => {
    const { url, bodies } = await endpoint((_, response, times) =>
      answer(response, answers[times - 1] ?? ''),
    );
    const used = settings(url, more);
    const { client } = await clientOf(used);
    const reply = await new LlmAsker(client, used, journal).ask(task);
    server!.closeAllConnections();
    await new Promise((done) => server!.close(done));
    server = null;
    return { reply, bodies, journal };
  };
  const RIGHT = '{"n": 3}';

  test('a right answer is one request', async () => {
    const { reply, bodies } = await ask([RIGHT]);
    expect(reply).toEqual({ value: 3, problems: [] });
    expect(bodies).toHaveLength(1);
  });

  test('a wrong one is sent back once with what is wrong', async () => {
    const { reply, bodies } = await ask(['{"n": 4}', RIGHT]);
    expect(reply.value).toBe(3);
    expect(bodies[1]!.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(bodies[1]!.messages[2]!.content).toBe('{"n": 4}');
    expect(bodies[1]!.messages[3]!.content).toContain('n is not 3');
  });

  test('an empty one is not quoted', async () => {
    const { reply, bodies } = await ask(['', RIGHT]);
    expect(reply.value).toBe(3);
    expect(bodies[1]!.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('then the question is put anew; then the answer is missing', async () => {
    const anew = await ask(['no', 'no', RIGHT]);
    expect(anew.reply.value).toBe(3);
    expect(anew.bodies[2]!.messages[1]!.content).toContain('try 1');
    const never = await ask(['no', 'no', 'no', 'no', RIGHT]);
    expect(never.bodies).toHaveLength(4);
    expect(never.reply).toEqual({ value: null, problems: [expect.stringContaining('no JSON object')] });
  });

  test('a second process sends nothing, not even for answers that were wrong', async () => {
    const { journal } = await ask(['no', '{"n": 4}', RIGHT]);
    const again = await ask([], journal);
    expect(again.reply.value).toBe(3);
    expect(again.bodies).toEqual([]);
    // Another model is another question.
    expect((await ask([RIGHT], journal, { model: 'other' })).bodies).toHaveLength(1);
    expect(journal.answerTotals()).toEqual({
      answers: 4,
      inputTokens: 40,
      cachedTokens: 0,
      outputTokens: 20,
    });
  });

  test('an answer that was cut is asked for again when more is allowed', async () => {
    const journal = new Journal(':memory:');
    const { url, bodies } = await endpoint((body, response) => {
      const whole = body.max_tokens >= 200;
      json(response, 200, {
        choices: [
          {
            index: 0,
            finish_reason: whole ? 'stop' : 'length',
            message: { role: 'assistant', content: whole ? RIGHT : '{"n"' },
          },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      });
    });
    const of = async (maxOutputTokens: number) => {
      const used = settings(url, { maxOutputTokens });
      const { client } = await clientOf(used);
      return new LlmAsker(client, used, journal).ask(task);
    };
    expect((await of(100)).problems[0]).toContain('cut off after 100 tokens');
    const before = bodies.length;
    expect((await of(200)).value).toBe(3);
    expect(bodies.length).toBe(before + 1);
  });
});

test('secrets are taken out in every form', () => {
  const secrets = new Secrets({
    OPENAI_API_KEY: 'sk-a/b+c=12345',
    HOME: '/home/somebody',
    GITHUB_TOKEN: 'short',
  });
  const base64 = Buffer.from('sk-a/b+c=12345').toString('base64');
  expect(
    secrets.redact(`sk-a/b+c=12345 ${encodeURIComponent('sk-a/b+c=12345')} ${base64} /home/somebody short`),
  ).toBe('[secret] [secret] [secret] /home/somebody short');
});
