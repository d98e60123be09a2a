/** The unmodified Node client of the commercial service, with the address of a service under test. */
import { Permit } from 'permitio'
import { API_KEY, type Client, startedService } from '#testing/processes/running-service.ts'

export type PermitOptions = ConstructorParameters<typeof Permit>[0]

/** Configurations of the client, which must all behave the same. */
export const MODES: readonly { readonly mode: string; readonly options: PermitOptions }[] = [
  { mode: 'with default options', options: {} },
  { mode: 'with retries', options: { retry: {} } },
  { mode: 'with facts through the decision point', options: { proxyFactsViaPdp: true } },
  {
    mode: 'with facts through the decision point, waiting for them, and retries',
    options: { proxyFactsViaPdp: true, factsSyncTimeout: 10, factsSyncTimeoutPolicy: 'fail', retry: {} },
  },
]

/** A client without logs for the service at this address. */
export function permitAt(address: string, options: PermitOptions = {}): Permit {
  return new Permit({ token: API_KEY, pdp: address, apiUrl: address, log: { level: 'silent' }, ...options })
}

/** A client of a new service with only the tenant `default`. */
export async function permitOfNewService(
  options: PermitOptions = {},
  settings: Parameters<typeof startedService>[0] = {},
): Promise<{ readonly permit: Permit; readonly service: Client }> {
  const service = await startedService(settings)
  return { permit: permitAt(service.address, options), service }
}

/** Status with which a REST call of the client was rejected. Other errors are rethrown. */
export async function statusOfRefusal(call: Promise<unknown>): Promise<number | undefined> {
  try {
    await call
  } catch (error) {
    const { response } = error as { response?: { status: number } }
    if (response === undefined) throw error
    return response.status
  }
  return undefined
}
