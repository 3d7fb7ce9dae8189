import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo } from './answers.js';

/**
 * What goes wrong with a request. The first five are of the transport (`hang`: hung up on after a silence): nothing is
 * answered, nothing is paid, the same request goes well the next time. The rest are answers, and are paid.
 */
export type Fault =
  | 'rate-limit'
  | 'server-error'
  | 'cut'
  | 'broken-body'
  | 'hang'
  | 'slow'
  | 'malformed'
  | 'wrong-schema'
  | 'wrong-evidence'
  | 'refusal'
  | 'empty'
  | 'huge'
  | 'fenced'
  | 'none';

const OF_TRANSPORT: ReadonlySet<Fault> = new Set([
  'rate-limit',
  'server-error',
  'cut',
  'broken-body',
  'hang',
]);

export interface FakeOptions {
  /** The fault of a request by its content; a repair or another try is another content. */
  readonly faultOf?: (request: FakeRequest) => Fault;
  /** Answers are sent for so many requests; later ones wait until `release`. */
  readonly holdAfter?: number;
  /** Refuses `response_format` of these kinds with status 400. */
  readonly unknownFormats?: readonly string[];
  /** The key it wants; absent: none. */
  readonly key?: string;
}

/** A request as the fake sees it. */
export interface FakeRequest {
  /** SHA-256 of model and messages. */
  readonly hash: string;
  readonly system: string;
  readonly user: string;
  /** How many messages came before the answer; more than two: a repair. */
  readonly messages: number;
  readonly body: {
    readonly model: string;
    readonly max_tokens?: number;
    readonly response_format?: { readonly type: string };
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
}

/** A scripted OpenAI-compatible endpoint: what it says depends on the content of a request alone. */
export class FakeEndpoint {
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #options: FakeOptions;
  readonly #seen = new Map<string, number>();
  #holding: boolean;
  #waiting: ServerResponse[] = [];
  /** Answers that were sent whole, by request. */
  readonly paid = new Map<string, number>();
  /** Every request that arrived, in order. */
  readonly requests: FakeRequest[] = [];
  readonly faults = new Map<Fault, number>();
  /** Requests that are being answered; those that are held back or never answered are none of them. */
  busy = 0;

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.#holding = options.holdAfter !== undefined;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  get answers(): number {
    return [...this.paid.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Lets nothing wait any more; those that waited are cut off. */
  release(): void {
    this.#holding = false;
    for (const response of this.#waiting) response.destroy();
    this.#waiting = [];
  }

  async close(): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    if (incoming.method !== 'POST' || !incoming.url?.endsWith('/chat/completions'))
      return sendJson(response, 404, { error: { message: 'no such path' } });
    const { key, unknownFormats = [], holdAfter, faultOf } = this.#options;
    if (key !== undefined && incoming.headers.authorization !== `Bearer ${key}`)
      return sendJson(response, 401, {
        error: { message: `Incorrect API key provided: ${incoming.headers.authorization}` },
      });
    const body = JSON.parse(text) as FakeRequest['body'];
    const format = body.response_format?.type;
    if (format !== undefined && unknownFormats.includes(format))
      return sendJson(response, 400, { error: { message: `response_format ${format} is not supported` } });
    const request: FakeRequest = {
      hash: createHash('sha256')
        .update(JSON.stringify([body.model, body.messages]))
        .digest('hex'),
      system: body.messages[0]!.content,
      user: body.messages[1]!.content,
      messages: body.messages.length,
      body,
    };
    this.requests.push(request);
    const times = (this.#seen.get(request.hash) ?? 0) + 1;
    this.#seen.set(request.hash, times);
    if (this.#holding && this.answers >= holdAfter!) {
      this.#waiting.push(response);
      return;
    }
    const fault = faultOf?.(request) ?? 'none';
    if (!(OF_TRANSPORT.has(fault) && times > 1)) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    if (OF_TRANSPORT.has(fault) && times === 1) return failTransport(response, fault);
    this.busy++;
    response.on('close', () => this.busy--);
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, 30));
    // Counted when it is sent whole: what the other side never got is not paid.
    response.on('finish', () => this.paid.set(request.hash, (this.paid.get(request.hash) ?? 0) + 1));
    sendJson(response, 200, completion(request, fault));
  }
}

function failTransport(response: ServerResponse, fault: Fault): void {
  switch (fault) {
    case 'rate-limit':
      response.setHeader('retry-after', '0');
      sendJson(response, 429, { error: { message: 'slow down' } });
      break;
    case 'server-error':
      sendJson(response, 500, { error: { message: 'something broke' } });
      break;
    case 'broken-body':
      response.setHeader('content-type', 'application/json');
      response.end('{"choices": [{"message":');
      break;
    case 'cut':
      response.setHeader('content-type', 'application/json');
      response.setHeader('content-length', '100000');
      response.write('{"id": "half of', () => response.destroy());
      break;
    default:
      setTimeout(() => response.destroy(), 300);
  }
}

function completion(request: FakeRequest, fault: Fault): object {
  const content = fault === 'huge' ? 'x'.repeat(5 * 2 ** 20) : spoilt(answerTo(request), fault);
  return {
    id: `answer-${request.hash.slice(0, 8)}`,
    object: 'chat.completion',
    created: 0,
    model: request.body.model,
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message:
          fault === 'refusal'
            ? { role: 'assistant', content: null, refusal: 'I cannot help with that.' }
            : { role: 'assistant', content },
      },
    ],
    usage: { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 },
  };
}

function spoilt(answer: object, fault: Fault): string {
  const text = JSON.stringify(answer);
  switch (fault) {
    case 'malformed':
      return text.slice(0, Math.floor(text.length * 0.7));
    case 'wrong-schema':
      return JSON.stringify({ result: answer });
    case 'wrong-evidence':
      return text.replaceAll(/"quote":"/g, '"quote":"invented words that stand nowhere ');
    case 'empty':
      return '';
    case 'fenced':
      return `<think>Let me see {about} this.</think>\nHere it is:\n\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\`\n`;
    default:
      return text;
  }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
}
