import { type ModelConfig, PROJECTIONS, type Projection } from './model/config.js';
import { type Adapter, loraA, loraB } from './model/lora.js';
import { projectionName, type Tensor, transposed } from './model/parameters.js';
import { type LoraPair, readPeftFolder, writePeftFolder } from './peft.js';

/** Writes an adapter as a PEFT folder. @param baseModel the base model's folder or name, for PEFT. */
export function writeAdapterFolder(
  folder: string,
  adapter: Adapter,
  config: ModelConfig,
  baseModel: string,
): void {
  const layers = Array.from({ length: config.layers }, (_, layer) => {
    const pairs = PROJECTIONS.map((projection): [Projection, LoraPair] => {
      const module = projectionName(layer, projection);
      const matrix = (name: string) => transposed(adapter.parameters[name] as Tensor);
      return [projection, { a: matrix(loraA(module)), b: matrix(loraB(module)) }];
    });
    return Object.fromEntries(pairs) as Record<Projection, LoraPair>;
  });
  writePeftFolder(folder, { rank: adapter.rank, alpha: adapter.alpha, baseModel, layers });
}

/** Reads a PEFT folder into memory's layout. @throws Error naming the file and what does not fit the model. */
export function readAdapterFolder(folder: string, config: ModelConfig): Adapter {
  const { rank, alpha, layers } = readPeftFolder(folder, config);
  const parameters: Record<string, Tensor> = {};
  layers.forEach((layer, index) => {
    for (const projection of PROJECTIONS) {
      const module = projectionName(index, projection);
      parameters[loraA(module)] = transposed(layer[projection].a);
      parameters[loraB(module)] = transposed(layer[projection].b);
    }
  });
  return { rank, alpha, parameters };
}
