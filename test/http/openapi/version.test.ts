/** The version of the release, as in `package.json`, in all places that report it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startedService } from '#testing/processes/running-service.ts'
import { verdictCommand } from '../../cli/command-line.ts'

const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url))
const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }

test('the health check, the metrics, the OpenAPI document and the command line report the version', async () => {
  const verdict = await startedService()
  expect((await verdict.get('/healthy')).body).toEqual({ status: 'healthy', version })
  expect((await verdict.get('/metrics')).body).toContain(
    `\nverdict_build_info{version="${version}",node="${process.versions.node}"} 1\n`,
  )
  expect((await verdict.get<{ info: object }>('/openapi.json')).body.info).toMatchObject({ version })
  const { code, stdout } = await verdictCommand(['--version'])
  expect([code, stdout]).toEqual([0, `${version}\n`])
})
