import type { Importer } from './importer.js';
import { isOpenInference, readSpanRecord } from './otel.js';
import { OTLP_LISTS } from './otlp.js';
import { importSpans, type SpanFormat } from './spans-import.js';

const FORMAT: SpanFormat = { name: 'openinference', open: OTLP_LISTS, read: readSpanRecord };

/**
 * Spans of the OpenInference semantic conventions: OTLP's JSON, Phoenix's interface (`{data: [span]}`, also with rows
 * of annotations) and its tables of spans as JSONL or Parquet.
 */
export const openInferenceImporter: Importer = {
  name: 'openinference',
  title: 'OpenInference spans (Phoenix exports, OTLP JSON with openinference.span.kind)',
  matches: isOpenInference,
  read: (path, options) => importSpans(path, options, FORMAT),
};
