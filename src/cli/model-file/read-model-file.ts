/** Reads a model file that stands alone: all that it names is in it. */
import type { ModelFile } from '#model/model-file.ts'
import { formFindings } from './checks/check-form.ts'
import { nameFindings } from './checks/check-names.ts'
import { KnownNames } from './known-names.ts'
import { ModelSource } from './model-source.ts'

/** Throws `ModelFileError` with everything that is wrong. `name` is what messages call the file. */
export function readModelFile(text: string, name: string): ModelFile {
  const source = ModelSource.read(text, name)
  return checkedModel(source, KnownNames.of(source.root))
}

/** Throws `ModelFileError` with everything that is wrong. `known`: what the file may name. */
export function checkedModel(source: ModelSource, known: KnownNames): ModelFile {
  const findings = [...formFindings(source), ...nameFindings(source.root, known)]
  if (findings.length > 0 || source.hasProblems) throw source.errorOf(findings)
  return source.root.value as ModelFile
}
