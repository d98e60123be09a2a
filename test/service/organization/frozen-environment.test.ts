/** Environments that refuse changes while their content is replaced. */
import { expect, test } from 'vitest'
import { RunningEnvironment } from '../../support/running-environment.ts'

test('a frozen environment refuses changes until all holders have released it', async () => {
  const environment = await RunningEnvironment.open()
  const addUser = (key: string) => environment.execute('createUser', { body: { key } })
  const [thawOne, thawOther] = [await environment.freeze(), await environment.freeze()]
  thawOne()
  await expect(addUser('alice')).rejects.toMatchObject({ code: 'NOT_READY' })
  thawOther()
  await addUser('alice')
})
