/** Reads a self-contained model file, which is a file that defines all names to which it refers. */
import type { ModelFile } from '#entities/model-file.ts'
import { formFindings } from './check-form.ts'
import { nameFindings } from './check-names.ts'
import type { Finding } from './findings.ts'
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
  const form = formFindings(source)
  // A value that violates the schema can also be an unknown name. Only the first error at a location is
  // reported.
  const places = new Set(form.map(placeOf))
  const names = nameFindings(source.root, known).filter(finding => !places.has(placeOf(finding)))
  const findings = [...form, ...names]
  if (findings.length > 0 || source.hasProblems) throw source.errorOf(findings)
  return source.root.value as ModelFile
}

function placeOf({ location, isAboutKey = false }: Finding): string {
  return JSON.stringify([location.map(String), isAboutKey])
}
