import { canonicalImporter } from './canonical.js';
import type { Importer } from './importer.js';
import { tauBenchImporter } from './tau-bench.js';
import { tau2Importer } from './tau2.js';

/** All importers, in the order in which they are asked: the more particular ones first, plain chats last. */
export const IMPORTERS: readonly Importer[] = [canonicalImporter, tauBenchImporter, tau2Importer];

/** The importer of a format's name; undefined when there is none. */
export function importerNamed(name: string): Importer | undefined {
  return IMPORTERS.find((importer) => importer.name === name);
}
