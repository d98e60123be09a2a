/** A certificate authority and a certificate for this machine, created with openssl for one test file. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

export interface Certificates {
  readonly directory: string
  readonly serverArguments: readonly string[]
  /** Certificate file in the format of `NODE_EXTRA_CA_CERTS`. */
  readonly authority: string
  remove(): void
}

export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-tls-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=ca')
  const extensions = ['subjectAltName=IP:127.0.0.1,DNS:localhost', 'basicConstraints=CA:FALSE']
  const names = extensions.flatMap(each => ['-addext', each])
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-days', '2', '-subj', '/CN=redis']
  openssl('req', '-x509', ...newKey, '-keyout', 'redis.key', '-out', 'redis.crt', ...signed, ...names)
  const authority = join(directory, 'ca.crt')
  return {
    directory,
    authority,
    serverArguments: Object.entries({
      'tls-cert-file': join(directory, 'redis.crt'),
      'tls-key-file': join(directory, 'redis.key'),
      'tls-ca-cert-file': authority,
      'tls-auth-clients': 'no',
    }).flatMap(([name, value]) => [`--${name}`, value]),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Has the effect of `NODE_EXTRA_CA_CERTS` in the running process. */
export function trustAuthority(file: string): void {
  setDefaultCACertificates([...getCACertificates(), readFileSync(file, 'utf8')])
}
