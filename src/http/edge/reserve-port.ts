/**
 * Checks that a port is free before the first thread listens on it. The HTTP library always opens its port as
 * shared (SO_REUSEPORT), so that several threads can listen on it. A second process could then also listen on
 * this port without an error, and would answer half of the requests from other data. This check binds the
 * port exclusively, which fails if any process already listens on it.
 *
 * When the function returns, the port is free again, and another process could still take it. With the
 * embedded store, the lock of the store prevents this.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export interface ListenAddress {
  readonly host: string
  /** Port number. 0 selects any free port. */
  readonly port: number
}

/**
 * Returns the port to listen on. This is the given port, or a free port if the given port is 0. If the port
 * is not available, throws an error that contains the address and the name of the setting for the port.
 */
export async function reservePort(
  { host, port }: ListenAddress,
  setting: 'PORT' | 'OPA_PORT' | 'KONG_PORT' = 'PORT',
): Promise<number> {
  const probe = createServer()
  try {
    probe.listen({ host, port, exclusive: true })
    await once(probe, 'listening')
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'is already in use' : 'cannot be used'
    throw new Error(`the address ${host}:${port} ${reason}; set HOST and ${setting} to a free address`, {
      cause: error,
    })
  }
  const reserved = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return reserved
}
