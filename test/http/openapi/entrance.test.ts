/** `GET /`, and what the description leaves out. */
import { expect, test } from 'vitest'
import { VERSION } from '#model/version.ts'
import { sharedService } from '#testing/processes/running-service.ts'

const verdict = await sharedService()

function entrance(accept: string): Promise<Response> {
  return fetch(`${verdict.address}/`, { headers: { accept }, redirect: 'manual' })
}

test.each(['*/*', 'application/json', 'text/html2', ''])(
  'GET / tells a program what answers here (%j)',
  async accept => {
    const response = await entrance(accept)
    expect([response.status, await response.json()]).toEqual([
      200,
      { name: 'Verdict', version: VERSION, docs: 'docs', openapi: 'openapi.json' },
    ])
  },
)

test('GET / leads a browser to the reference, behind any prefix of a proxy', async () => {
  const response = await entrance('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')
  expect([response.status, response.headers.get('location')]).toEqual([302, 'docs'])
  const followed = await fetch(`${verdict.address}/`, { headers: { accept: 'TEXT/HTML' } })
  expect([followed.url, followed.status]).toEqual([`${verdict.address}/docs`, 200])
})

test('the files of the reference are served, and are no operations of the description', async () => {
  const { body } = await verdict.get<{ paths: Record<string, unknown> }>('/openapi.json')
  const described = Object.keys(body.paths).filter(path => path.startsWith('/docs'))
  expect(described).toEqual(['/docs'])
  for (const file of ['start.js', 'swagger-ui-bundle.js', 'swagger-ui.css']) {
    expect((await fetch(`${verdict.address}/docs/${file}`)).status).toBe(200)
  }
})
