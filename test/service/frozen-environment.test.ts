/** Changes that are held back while something else is put in an environment's place. */
import { expect, test } from 'vitest'
import { RunningEnvironment } from '../support/running-environment.ts'

test('changes are refused until the last of those who hold them back lets them in', async () => {
  const environment = await RunningEnvironment.open()
  const addUser = (key: string) => environment.execute('createUser', { body: { key } })
  const [thawOne, thawOther] = [await environment.freeze(), await environment.freeze()]
  thawOne()
  await expect(addUser('alice')).rejects.toMatchObject({ code: 'NOT_READY' })
  thawOther()
  await addUser('alice')
})
