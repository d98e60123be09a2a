/** An authority and a certificate for this machine, made for the tests of one file by the openssl on the PATH. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

export interface Certificates {
  readonly directory: string
  /** What a server is started with. */
  readonly serverArguments: readonly string[]
  /** A file, as `NODE_EXTRA_CA_CERTS` takes it. */
  readonly authority: string
  remove(): void
}

export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-tls-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=ca')
  const names = [
    '-addext',
    'subjectAltName=IP:127.0.0.1,DNS:localhost',
    '-addext',
    'basicConstraints=CA:FALSE',
  ]
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

/** What `NODE_EXTRA_CA_CERTS` does for a process that is started, for this one, which runs. */
export function trustAuthority(file: string): void {
  setDefaultCACertificates([...getCACertificates(), readFileSync(file, 'utf8')])
}
