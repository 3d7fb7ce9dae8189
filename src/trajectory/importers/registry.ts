import { anthropicImporter } from './anthropic.js';
import { atifImporter } from './atif.js';
import { canonicalImporter } from './canonical.js';
import type { Importer } from './importer.js';
import { inspectImporter } from './inspect.js';
import { langfuseImporter } from './langfuse.js';
import { langSmithImporter } from './langsmith.js';
import { miniSweAgentImporter } from './mini-swe-agent.js';
import { openaiChatImporter } from './openai-chat.js';
import { openHandsImporter } from './openhands.js';
import { openInferenceImporter } from './openinference.js';
import { otelImporter } from './otel.js';
import { sweAgentImporter } from './swe-agent.js';
import { tauBenchImporter } from './tau-bench.js';
import { tau2Importer } from './tau2.js';
import { toolSandboxImporter } from './toolsandbox.js';
import { verifiersImporter } from './verifiers.js';

/** All importers, in the order in which they are asked: the more particular ones first, plain chats last. */
export const IMPORTERS: readonly Importer[] = [
  canonicalImporter,
  tauBenchImporter,
  tau2Importer,
  inspectImporter,
  atifImporter,
  miniSweAgentImporter,
  sweAgentImporter,
  openHandsImporter,
  toolSandboxImporter,
  verifiersImporter,
  openInferenceImporter,
  otelImporter,
  langSmithImporter,
  langfuseImporter,
  anthropicImporter,
  openaiChatImporter,
];

/** The importer of a format's name; undefined when there is none. */
export function importerNamed(name: string): Importer | undefined {
  return IMPORTERS.find((importer) => importer.name === name);
}
