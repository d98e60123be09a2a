/** Which release runs is said wherever somebody looks for it: the one that `package.json` names. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startedService } from '#testing/processes/running-service.ts'
import { verdictCommand } from '../../cli/command-line.ts'

const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url))
const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }

test('the service, its metrics, its description and the command line name the release', async () => {
  const verdict = await startedService()
  expect((await verdict.get('/healthy')).body).toEqual({ status: 'healthy', version })
  expect((await verdict.get('/metrics')).body).toContain(
    `\nverdict_build_info{version="${version}",node="${process.versions.node}"} 1\n`,
  )
  expect((await verdict.get<{ info: object }>('/openapi.json')).body.info).toMatchObject({ version })
  const { code, stdout } = await verdictCommand(['--version'])
  expect([code, stdout]).toEqual([0, `${version}\n`])
})
