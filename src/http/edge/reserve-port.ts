/**
 * Checks that a port is free before the first thread listens on it. The HTTP library always shares its port
 * (SO_REUSEPORT) so that several threads can listen on it. This would also let a second process listen
 * without an error and answer half of the requests from other data. An exclusive bind fails if any process
 * listens already.
 *
 * The port is free again when this function returns, so another process can still take it afterwards. With
 * the embedded store, its lock prevents this.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export interface ListenAddress {
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
}

/**
 * Returns the port to listen on: the given one, or a free port for 0. Throws an error that contains the
 * address and the setting of the port if the port is not available.
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
