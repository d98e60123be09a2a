/** The commercial service's own Node client, unmodified, pointed at a service under test by its two addresses. */
import { Permit } from 'permitio'
import { API_KEY, type Client, startedService } from '#testing/processes/running-service.ts'

export type PermitOptions = ConstructorParameters<typeof Permit>[0]

/** The ways to set the client up between which nothing may differ. */
export const MODES: readonly { readonly mode: string; readonly options: PermitOptions }[] = [
  { mode: 'as it comes', options: {} },
  { mode: 'with retries', options: { retry: {} } },
  { mode: 'with facts through the decision point', options: { proxyFactsViaPdp: true } },
  {
    mode: 'with facts through the decision point, waiting for them, and retries',
    options: { proxyFactsViaPdp: true, factsSyncTimeout: 10, factsSyncTimeoutPolicy: 'fail', retry: {} },
  },
]

/** A client of the service at this address; it logs nothing. */
export function permitAt(address: string, options: PermitOptions = {}): Permit {
  return new Permit({ token: API_KEY, pdp: address, apiUrl: address, log: { level: 'silent' }, ...options })
}

/** A client of a new service, whose environment holds nothing but the tenant `default`. */
export async function permitOfNewService(
  options: PermitOptions = {},
  settings: Parameters<typeof startedService>[0] = {},
): Promise<{ readonly permit: Permit; readonly service: Client }> {
  const service = await startedService(settings)
  return { permit: permitAt(service.address, options), service }
}

/** The status with which the client's REST part was refused; whatever else it threw is thrown on. */
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
