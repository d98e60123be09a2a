/**
 * Generates `NOTICE`, which lists the production dependencies with their licenses and license texts. The list
 * is derived from the lock file (`npm sbom`), so it is the same on every platform. The license texts are
 * those in the installed packages.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Licenses that allow the product to be distributed under its own license. */
export const ACCEPTED_LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
]

export interface Component {
  readonly name: string
  readonly version: string
  /** SPDX identifier that the package states; absent if it states none. */
  readonly licence: string | undefined
}

export interface Sbom {
  readonly bomFormat: string
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly name: string
    readonly version: string
    readonly licenses?: readonly {
      readonly license?: { readonly id?: string }
      readonly expression?: string
    }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

/**
 * Returns the bill of materials of the production dependencies in CycloneDX format. If npm fails, throws its
 * error. `npm sbom --omit dev` is not used, because it also omits production dependencies that development
 * needs, such as `yaml`. Therefore npm lists all packages, and this function removes those that the lock file
 * marks as needed only for development.
 */
export function sbom(): Sbom {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const listed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: 'pipe' })
  const all = JSON.parse(listed) as Sbom
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { name?: string; version: string; dev?: true }>>
  }
  const running = new Set(
    Object.entries(lock.packages)
      // The console is a part of this project, so its entry is not a dependency.
      .filter(([path, { dev }]) => dev !== true && (path === '' || path.includes('node_modules/')))
      .map(([path, { name, version }]) => `${name ?? path.replace(/.*node_modules\//, '')}@${version}`),
  )
  const isRunning = (ref: string): boolean => running.has(ref)
  return {
    ...all,
    components: all.components.filter(component => isRunning(component['bom-ref'])),
    dependencies: all.dependencies
      .filter(({ ref }) => isRunning(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isRunning) })),
  }
}

/** Returns each package only once, sorted by name. */
export function componentsOf({ components }: Sbom): Component[] {
  const found = components.map(({ name, version, licenses }) => ({
    name,
    version,
    licence: licenses?.[0]?.license?.id ?? licenses?.[0]?.expression,
  }))
  const label = ({ name, version }: Component) => `${name}@${version}`
  return [...new Map(found.map(component => [label(component), component])).values()].toSorted((one, other) =>
    label(one) < label(other) ? -1 : 1,
  )
}

const HEAD = `Verdict
Copyright 2026 the authors of Verdict

Licensed under the Apache License, Version 2.0: see LICENSE.

The package contains code of typebox, of yargs and its dependencies (cliui, y18n, yargs-parser and others
below), and, in the console, of react, react-aria-components, @tanstack/react-query, codemirror and others
below. Its other dependencies are installed as separate packages, each with its license. An image contains
all of them, and Node. uWebSockets.js is installed as uws-pack, whose binaries are built from uWebSockets.js
and uWebSockets by Alex Hultman and others, under the Apache License, Version 2.0.
`

const RULE = '-'.repeat(78)

/** Text of NOTICE, which `npm run documents` writes. */
export function noticeText(): string {
  const components = componentsOf(sbom())
  const byLicence = Map.groupBy(components, ({ licence }) => licence ?? 'without a license')
  const lists = [...byLicence]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([licence, members]) =>
        `${licence}:\n${members.map(({ name, version }) => `  ${name} ${version}\n`).join('')}`,
    )
  const texts = [...Map.groupBy(components.filter(hasText), textOf)].map(
    ([text, members]) => `${RULE}\n${members.map(({ name }) => name).join(', ')}\n\n${text}\n`,
  )
  return [HEAD, ...lists, ...texts].join('\n')
}

function hasText(component: Component): boolean {
  return textOf(component) !== ''
}

/**
 * Returns the license texts in a package. The list is empty if the package contains none, or if it is not
 * installed because it is for another platform.
 */
function textOf({ name }: Component): string {
  const folder = join(ROOT, 'node_modules', name)
  if (!existsSync(folder)) return ''
  const files = readdirSync(folder).filter(file => /^(licen[cs]e|notice|copying)(\.(md|txt))?$/i.test(file))
  return files
    .toSorted()
    .map(file =>
      readFileSync(join(folder, file), 'utf8')
        .replaceAll('\r\n', '\n')
        .replaceAll(/[ \t]+$/gm, '')
        .trim(),
    )
    .join('\n\n')
}
