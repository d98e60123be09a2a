/** Assumptions about the runtime, the native modules and the schema compiler. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { open } from 'lmdb'
import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { expect, test } from 'vitest'

test('tests run with the version of Node 22 that npm ci installs', () => {
  expect(process.versions.node).toMatch(/^22\./)
})

test('a uWebSockets.js app in a thread responds, and closes without ending the process', async () => {
  const thread = new Worker(new URL('./echo-thread.ts', import.meta.url))
  const [{ port }] = (await once(thread, 'message')) as [{ port: number }]
  const response = await fetch(`http://127.0.0.1:${port}/`)
  expect(await response.text()).toBe('decided')
  thread.postMessage('close')
  expect(await once(thread, 'exit')).toEqual([0])
})

test('an lmdb child transaction that throws is rolled back', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-ground-'))
  const database = open<string, string>({ path: directory })
  try {
    const rejected = database.childTransaction(() => {
      void database.put('half', 'written')
      throw new Error('changed my mind')
    })
    await expect(rejected).rejects.toThrow('changed my mind')
    await database.put('whole', 'written')
    expect([...database.getKeys()]).toEqual(['whole'])
  } finally {
    await database.close()
    rmSync(directory, { recursive: true })
  }
})

test('a compiled TypeBox validator accepts, rejects and reports the location', () => {
  const validator = Compile(Type.Object({ key: Type.String({ minLength: 1 }) }))
  expect(validator.Check({ key: 'alice' })).toBe(true)
  expect(validator.Check({ key: '' })).toBe(false)
  const [, [finding]] = validator.Errors({ key: 3 })
  expect(finding?.instancePath).toBe('/key')
})
