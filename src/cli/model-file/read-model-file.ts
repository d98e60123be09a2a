/** Reads a self-contained model file, which is a file that defines all names to which it refers. */
import type { ModelFile } from '#model/model-file.ts'
import { formFindings } from './checks/check-form.ts'
import { nameFindings } from './checks/check-names.ts'
import { KnownNames } from './known-names.ts'
import { ModelSource } from './model-source.ts'

/** Throws `ModelFileError` with all errors. `name`: name of the file for messages. */
export function readModelFile(text: string, name: string): ModelFile {
  const source = ModelSource.read(text, name)
  return checkedModel(source, KnownNames.of(source.root))
}

/**
 * Returns the content of a model file. Throws `ModelFileError` with all errors. `known`: names to which the
 * file can refer.
 */
export function checkedModel(source: ModelSource, known: KnownNames): ModelFile {
  const findings = [...formFindings(source), ...nameFindings(source.root, known)]
  if (findings.length > 0 || source.hasProblems) throw source.errorOf(findings)
  return source.root.value as ModelFile
}
