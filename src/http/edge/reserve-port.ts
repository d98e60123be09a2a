/**
 * Finds out whether a port is free before the first thread listens on it. The HTTP library always shares its port
 * (SO_REUSEPORT), which lets our threads listen side by side, and would also let a second process in, silently, to
 * answer half of the requests from other data. A plain exclusive bind fails where anybody listens already.
 *
 * The port is free again when this returns, so another process can still slip in between; the lock on the embedded
 * store catches that one.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export interface ListenAddress {
  readonly host: string
  /** 0 asks for any free port. */
  readonly port: number
}

/**
 * The port to listen on: the given one if it is free, for 0 a free one. Throws an error that names the address, and the
 * setting that has the port.
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
    throw new Error(`the address ${host}:${port} ${reason}; set HOST and ${setting} to a free one`, {
      cause: error,
    })
  }
  const reserved = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return reserved
}
