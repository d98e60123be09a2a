/**
 * Checks the wording of the project (`npm run check:language`): documents, comments, messages, texts of the
 * console in English and names of tests. Arguments are files or folders; without them, all files are checked.
 * `--commits RANGE` checks the subjects of these commits instead; a range that does not exist is skipped. The
 * exit code is 1 if there are findings. CONTRIBUTING.md describes how to accept a finding.
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findingsIn } from './language/check.ts'
import { commitsIn, subjectPassages } from './language/commits.ts'
import { languageFiles, readLanguageFile } from './language/files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Maximum number of accepted findings in the whole project. */
const MARKERS_MAX = 20

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { commits: { type: 'string' } },
})
const wanted = positionals.map(path => path.replace(/^\.\/|\/$/g, ''))

const counts = new Map<string, number>()
let markerCount = 0

function report(place: string, folder: string, text: Parameters<typeof findingsIn>[0]): void {
  for (const { line, rule, advice, excerpt } of findingsIn(text)) {
    const at = folder === 'commits' ? place : `${place}:${line}`
    process.stdout.write(`${at}  ${rule}: …${excerpt}… (${advice})\n`)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
}

for (const path of values.commits === undefined ? languageFiles(ROOT) : []) {
  const text = readLanguageFile(ROOT, path)
  markerCount += text.markers.length
  const isWanted = wanted.length === 0 || wanted.some(each => path === each || path.startsWith(`${each}/`))
  if (isWanted) report(path, path.includes('/') ? path.split('/', 1)[0]! : '.', text)
}

if (values.commits !== undefined) {
  const commits = commitsIn(values.commits, ROOT)
  if (commits === null) process.stdout.write(`language: skipped unreadable commits ${values.commits}\n`)
  for (const { hash, subject } of commits ?? []) {
    report(`commit ${hash}`, 'commits', { passages: subjectPassages(subject), markers: [] })
  }
}

if (markerCount > MARKERS_MAX) {
  process.stdout.write(`language: ${markerCount} exceptions, at most ${MARKERS_MAX} are allowed\n`)
}
for (const [folder, count] of counts) process.stdout.write(`language: ${count} findings in ${folder}\n`)
process.exitCode = counts.size > 0 || markerCount > MARKERS_MAX ? 1 : 0
