/** The release check reports all missing parts of a release. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERSION } from '#model/version.ts'
import { checkoutCopy } from '../../support/processes/checkout-copy.ts'

const checkout = checkoutCopy()

function edit(path: string, change: (text: string) => string): void {
  const file = join(checkout, path)
  const text = readFileSync(file, 'utf8')
  const changed = change(text)
  expect(changed, path).not.toBe(text)
  writeFileSync(file, changed)
}

function checked() {
  const args = ['--disable-warning=ExperimentalWarning', 'packaging/release-check.ts']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: checkout, encoding: 'utf8' })
  const missing = stdout.split('\n').filter(line => line.startsWith('MISSING'))
  return { status, missing: missing.map(line => line.replace(/^MISSING +/, '')), stderr }
}

test('the release check accepts a complete release and writes the package and its bill of materials', () => {
  const digest = `@sha256:${'0'.repeat(64)}`
  edit('CHANGELOG.md', text => text.replace('\n## [', `\n## [${VERSION}] - 2026-11-27\n\n## [`))
  const dockerfile = readFileSync(join(checkout, 'Dockerfile'), 'utf8')
  const pinned = dockerfile.replaceAll(/^(FROM [^\s@]+)(@\S+)?/gm, `$1${digest}`)
  writeFileSync(join(checkout, 'Dockerfile'), pinned)
  expect(checked()).toEqual({ status: 0, missing: [], stderr: '' })
  const artifacts = join(checkout, '.artifacts/release')
  expect(existsSync(join(artifacts, `verdict-authz-${VERSION}.tgz`))).toBe(true)
  const bill = JSON.parse(readFileSync(join(artifacts, 'sbom.cdx.json'), 'utf8')) as {
    readonly bomFormat: string
    readonly components: readonly { readonly name: string }[]
  }
  expect(bill.bomFormat).toBe('CycloneDX')
  const names = bill.components.map(({ name }) => name)
  // Development also needs `yaml`, but only development needs `vitest`.
  expect(names).toEqual(expect.arrayContaining(['uWebSockets.js', 'yaml']))
  expect(names).not.toContain('vitest')
})

test('the release check reports all missing parts of a release in one run', () => {
  edit('package-lock.json', text => {
    const lock = JSON.parse(text) as { version: string; packages: Record<string, { license?: string }> }
    lock.version = '9.9.9'
    lock.packages['node_modules/yaml']!.license = 'GPL-3.0-only'
    return JSON.stringify(lock)
  })
  edit('CHANGELOG.md', text => text.replace(`## [${VERSION}] -`, '## [0.0.0] -'))
  edit('Dockerfile', text => text.replace(/@sha256:\S+/, '').replace('COPY src', 'COPY source'))
  edit('.dockerignore', text => text.replace('!workers\n', ''))
  edit('package.json', text => text.replace('"bin",\n', '"bin",\n"test/oracle",\n'))
  rmSync(join(checkout, 'test/system/releases'), { recursive: true })
  rmSync(join(checkout, 'LICENSE'))
  const { status, missing } = checked()
  expect(status).toBe(1)
  for (const expected of [
    `version: package-lock.json has version 9.9.9, package.json ${VERSION}`,
    `changelog: CHANGELOG.md has no section "## [${VERSION}] - YYYY-MM-DD"`,
    'licences: there is no LICENSE',
    'licences: yaml 2.9.1 has the license GPL-3.0-only',
    'documents: NOTICE is not as npm run documents writes it',
    `stores of released versions: there is no test/system/releases/${VERSION.replace(/\.\d+$/, '.0')}: npm run release:fixture`,
    'package: the package has no LICENSE',
    'package: test/oracle/conditions.test.ts does not belong to the package',
    'image context: the Dockerfile copies source, which does not exist',
    'image context: .dockerignore excludes workers, which the Dockerfile copies',
    'image context: the base node:22-slim is not pinned by its digest: docker buildx imagetools inspect node:22-slim',
  ])
    expect(missing).toContain(expected)
})
