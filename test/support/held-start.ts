/** Starts of services that a test can delay. */
import { onTestFinished, vi } from 'vitest'
import { OpenEnvironments } from '#management/organization/open-environments.ts'

/**
 * Services of this process listen, but load their environments only after the returned function is called.
 */
export function holdStarts(): () => void {
  const { load } = OpenEnvironments.prototype
  const held = Promise.withResolvers<void>()
  const loading = vi.spyOn(OpenEnvironments.prototype, 'load').mockImplementation(async function (
    this: OpenEnvironments,
  ) {
    await held.promise
    return load.call(this)
  })
  onTestFinished(() => {
    held.resolve()
    loading.mockRestore()
  })
  return held.resolve
}
