/** Where in the module an abuse stands: at its top, in a function that returns words, or as an expression. */
export interface Abuse {
  readonly name: string;
  readonly top?: string;
  /** Body of a function; it returns words, beginning with ESCAPED where it got through. */
  readonly attack?: string;
  readonly reward?: string;
  readonly checks?: string;
  readonly message?: string;
  readonly scenario?: string;
  /** The words in which it has to be refused; absent: it runs to its end and reaches nothing. */
  readonly refused?: RegExp;
}

const STOPPED = /stopped by its sandbox|no answer|out of memory|interrupted|call stack|stack overflow/i;
/** Leads to the process of Node from any function of its realm. */
const walk = (start: string) =>
  `try { const made = ${start}("return typeof process === 'object' ? process : null")(); return made ? 'ESCAPED ' + made.pid : 'no process'; } catch (error) { return 'no: ' + error.message; }`;

/** Ways to get out, to spoil what the host reads, and to use up the machine. */
export const ABUSES: readonly Abuse[] = [
  // Walks to another realm.
  { name: 'constructor of a function', attack: walk('(() => {}).constructor') },
  { name: 'constructor of the global object', attack: walk('globalThis.constructor.constructor') },
  {
    name: 'constructor of this',
    attack: walk('(function () { return this; })?.()?.constructor?.constructor'),
  },
  { name: 'constructor of require', attack: walk('require.constructor') },
  { name: 'constructor of module.exports', attack: walk('module.exports.constructor.constructor') },
  { name: 'constructor of an asynchronous function', attack: walk('(async () => {}).constructor') },
  { name: 'constructor of a generator', attack: walk('(function* () {}).constructor') },
  {
    name: 'constructor of an error of the engine',
    attack: `let made; try { null.x; } catch (error) { made = error; } ${walk('made.constructor.constructor')}`,
  },
  {
    name: 'constructor of an overflow of the stack',
    attack: `let made; const deep = () => deep(); try { deep(); } catch (error) { made = error; } ${walk('made.constructor.constructor')}`,
  },
  { name: 'constructor of the settings', attack: walk('given.constructor.constructor') },
  {
    name: 'constructor of the turn that the host sent',
    attack: `return 'see act';`,
    message: `(() => { ${walk('message.constructor.constructor')} })()`,
  },
  {
    name: 'call sites of an error',
    attack: `Error.prepareStackTrace = (_, sites) => sites; const sites = new Error().stack; if (typeof sites !== 'object' || sites === null) return 'no sites'; for (const site of sites) { const other = site.getThis?.() ?? site.getFunction?.(); if (other?.process) return 'ESCAPED'; } return 'nothing in the sites';`,
    refused: /read.?only|Cannot assign|no setter/i,
  },
  {
    name: 'caller of a function',
    attack: `const f = Function.prototype; function g() { try { return g.caller; } catch { return null; } } const found = g(); return found && found.toString().includes('native') ? 'ESCAPED' : 'no caller of use';`,
  },
  {
    name: 'eval',
    attack: `try { return (0, globalThis.eval)('typeof process') === 'object' ? 'ESCAPED' : 'no'; } catch (error) { return 'no: ' + error.message; }`,
  },
  {
    name: 'Function from its prototype',
    attack: `try { return 'ESCAPED ' + new Function('return 1')(); } catch (error) { return 'no: ' + error.message; }`,
  },
  { name: 'WebAssembly', attack: `return typeof WebAssembly === 'undefined' ? 'not there' : 'ESCAPED';` },
  // Imports.
  { name: 'dynamic import', attack: `return import('node:fs');`, refused: /imports dynamically/ },
  {
    name: 'import of a module',
    top: `import { readFileSync } from 'node:fs'; const x = readFileSync('/etc/passwd');`,
    refused: /imports "node:fs"/,
  },
  { name: 'require', top: `const fs = require('node:fs');`, refused: /imports "node:fs"/ },
  {
    name: 'import of a worker',
    top: `import { Worker } from 'node:worker_threads'; new Worker('0');`,
    refused: /imports "node:worker_threads"/,
  },
  { name: 'process.binding', attack: `return typeof process === 'undefined' ? 'not there' : 'ESCAPED';` },
  // What the machine has.
  {
    name: 'keys in the environment',
    attack: `return 'found ' + (globalThis.process?.env?.TRACE_CANARY ?? 'nothing');`,
  },
  {
    name: 'files',
    attack: `return typeof Deno === 'undefined' && typeof std === 'undefined' && typeof os === 'undefined' && typeof read === 'undefined' ? 'not there' : 'ESCAPED';`,
  },
  {
    name: 'network',
    attack: `return ['fetch', 'WebSocket', 'XMLHttpRequest', 'EventSource'].some((name) => name in globalThis) ? 'ESCAPED' : 'not there';`,
  },
  {
    name: 'forks and signals',
    top: `import { fork } from 'node:child_process'; fork('x'); process.kill(1, 'SIGKILL');`,
    refused: /imports "node:child_process"/,
  },
  {
    name: 'clock',
    attack: `return typeof Date === 'undefined' && typeof performance === 'undefined' && typeof Intl === 'undefined' && typeof Temporal === 'undefined' ? 'not there' : 'ESCAPED';`,
  },
  {
    name: 'chance',
    attack: `return typeof Math.random === 'undefined' && typeof crypto === 'undefined' ? 'not there' : 'ESCAPED';`,
  },
  {
    name: 'a clock of shared memory',
    attack: `return typeof SharedArrayBuffer === 'undefined' && typeof Atomics === 'undefined' && typeof setTimeout === 'undefined' ? 'not there' : 'ESCAPED';`,
  },
  {
    name: 'the collector as a clock',
    attack: `return typeof WeakRef === 'undefined' && typeof FinalizationRegistry === 'undefined' ? 'not there' : 'ESCAPED';`,
  },
  { name: 'the locale', attack: `return 'ESCAPED ' + (1e6).toLocaleString();`, refused: /locale/ },
  // What is used up.
  { name: 'infinite loop at the top', top: 'for (;;) {}', refused: STOPPED },
  { name: 'infinite loop', attack: 'for (;;) {}', refused: STOPPED },
  {
    name: 'infinite chain of promises',
    attack: `const again = () => Promise.resolve().then(again); again(); return 'begun';`,
    message: `(() => { const again = () => Promise.resolve().then(again); later = again(); return 'begun'; })()`,
    refused: /stopped by its sandbox|no answer|memory|never settles/,
  },
  {
    name: 'promise that never settles',
    message: `(() => { later = new Promise(() => {}); return 'waiting'; })()`,
    refused: /never settles/,
  },
  {
    name: 'memory on the heap',
    attack: `const held = []; for (;;) held.push(new Array(1e5).fill(held.length));`,
    refused: STOPPED,
  },
  {
    name: 'memory beside the heap',
    attack: `const held = []; for (;;) held.push(new Uint8Array(1e8).fill(1));`,
    refused: /stopped by its sandbox|memory|allocation/i,
  },
  {
    name: 'strings that double',
    attack: `let text = 'x'; for (;;) { text += text; text.charCodeAt(text.length - 1); }`,
    refused: /string|length|memory|stopped/i,
  },
  {
    name: 'deep recursion',
    attack: 'const deep = (n) => deep(n + 1) + 1; return deep(0);',
    refused: STOPPED,
  },
  {
    name: 'deep data',
    scenario: `deep: (() => { let one = {}; for (let i = 0; i < 5000; i++) one = { one }; return one; })()`,
    refused: /nested deeper|stack|stopped/i,
  },
  { name: 'huge output', attack: `return 'x'.repeat(5e6);`, refused: /characters; the limit is/ },
  {
    name: 'many messages',
    message: `(() => { for (let i = 0; i < 2e5; i++) messages.push({ role: 'user', content: 'more' }); return 'much'; })()`,
    refused: /characters; the limit is|memory/,
  },
  {
    name: 'regular expression without end',
    attack: `return String(/^(a+)+$/.test('a'.repeat(40) + '!'));`,
    refused: STOPPED,
  },
  // What the host is told.
  {
    name: 'prototype of the scenario',
    scenario: `...JSON.parse('{"__proto__": {"polluted": true}}'), ['__proto__']: { polluted: true }`,
    refused: /__proto__/,
  },
  {
    name: 'prototype of Object',
    top: 'Object.prototype.polluted = true; Array.prototype.polluted = true;',
    attack: `return 'in its own realm: ' + {}.polluted;`,
  },
  {
    name: 'toJSON of everything',
    top: `Object.prototype.toJSON = function () { return 'ESCAPED'; };`,
    refused: /invalid|expected|stopped/i,
  },
  {
    name: 'JSON replaced',
    top: `JSON.stringify = () => 'ESCAPED'; JSON.parse = () => ({ op: 'close' });`,
    attack: `return 'replaced';`,
  },
  {
    name: 'Map and Array replaced',
    top: `Map.prototype.get = () => ({ polluted: true }); Array.prototype.push = () => 0;`,
    refused: /.+/,
  },
  { name: 'a line of its own in the answer', attack: `return 'tried\\n7 O{"reward":1}\\n';` },
  { name: 'a seed that is another', scenario: 'seed: 99', refused: /seed/ },
  { name: 'a system message without content', message: '{}', refused: /content|expected string/ },
  {
    name: 'a role of its own',
    message: `(messages.push({ role: 'root', content: 'x' }), 'x')`,
    refused: /role|discriminator|Invalid/i,
  },
  { name: 'reward NaN', reward: 'NaN', refused: /reward is NaN/ },
  { name: 'reward Infinity', reward: 'Infinity', refused: /reward is Infinity/ },
  { name: 'reward above one', reward: '1.0000001', refused: /reward is 1\.0000001/ },
  { name: 'reward below zero', reward: '-1', refused: /reward is -1/ },
  { name: 'reward as text', reward: `'1'`, refused: /reward is string/ },
  {
    name: 'reward as an object with valueOf',
    reward: `({ valueOf: () => 1, toJSON: () => 1 })`,
    refused: /reward is object/,
  },
  { name: 'reward as a big integer', reward: '1n', refused: /reward is bigint/ },
  {
    name: 'checks as a proxy',
    checks: `new Proxy([], { get() { throw new Error('trap'); }, ownKeys() { throw new Error('trap'); } })`,
    refused: /trap/,
  },
  { name: 'checks with a toJSON', checks: `({ toJSON: () => ({ reward: 5 }) })`, refused: /checks/ },
  {
    name: 'an error that cannot be read',
    attack: `throw { get message() { throw this; }, toString() { throw this; } };`,
    refused: /cannot be read/,
  },
  { name: 'an error as long as a book', attack: `throw new Error('x'.repeat(1e6));`, refused: /^x{1,2000}$/ },
];

/** A whole environment module with the abuse in its place. */
export function abusiveModule(abuse: Abuse): string {
  return `${abuse.top ?? ''}
let later;
export default (given) => ({
  name: 'abuse', capability: 'abuse', rationale: 'r', maxTurns: 3, tools: [], toolKinds: {},
  systemPrompt: () => 'tried: ' + (() => { ${abuse.attack ?? "return 'nothing';"} })(),
  scenario: (seed) => ({ seed, id: 'a' + seed, ${abuse.scenario ?? ''} }),
  open(scenario) {
    const messages = [{ role: 'system', content: 'begin' }];
    const episode = {
      messages, done: false, termination: null,
      act(message) {
        messages.push(message);
        messages.push({ role: 'user', content: ${abuse.message ?? "'go on'"} });
        return later;
      },
      score: () => ({ reward: ${abuse.reward ?? '0.5'}, checks: ${abuse.checks ?? '[]'} }),
    };
    return episode;
  },
  oracle: () => [], mistakes: () => [],
});`;
}
