/** Validates the files of `deploy` and the Dockerfile with linters, their programs and the service. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { settings } from '#config/settings.ts'
import { fileName } from '#config/secret-text.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { pause } from '#testing/processes/pause.ts'
import { startedService, storeDirectory } from '#testing/processes/running-service.ts'
import { makeCertificates } from '../faults/topologies/certificates.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const deploy = join(root, 'deploy')
const text = (path: string): string => readFileSync(join(root, path), 'utf8')
const lacks = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0
const known = Object.keys(settings).flatMap(name => [name, fileName(name)])

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector?: Record<string, unknown>
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec }
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly serviceName?: string
  }
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly volumes: readonly { readonly name: string }[]
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value: string }[]
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
    readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } }
  }[]
}

test('the Dockerfile has no findings of its linter', () => {
  expect(validate(text('Dockerfile'))).toEqual([])
  // A Dockerfile with an error has a finding.
  expect(validate('FROM node:22\nCPY a b\n')).toHaveLength(1)
})

test('the image runs without root, has labels, and has the command line on its PATH', () => {
  const dockerfile = text('Dockerfile')
  expect(dockerfile).toMatch(/^USER 1000:1000$/m)
  for (const label of ['title', 'description', 'licenses', 'version'])
    expect(dockerfile).toContain(`org.opencontainers.image.${label}=`)
  expect(dockerfile).toContain('ln -s /app/bin/verdict.js /usr/local/bin/verdict')
  // As in the image, the command is a link, and only the built form exists.
  const app = join(storeDirectory(), 'app')
  mkdirSync(app)
  for (const path of ['bin', 'package.json']) execFileSync('cp', ['-r', join(root, path), app])
  for (const path of ['dist', 'node_modules']) symlinkSync(join(root, path), join(app, path))
  symlinkSync(join(app, 'bin/verdict.js'), join(app, 'verdict'))
  const { version } = JSON.parse(text('package.json')) as { readonly version: string }
  expect(execFileSync(process.execPath, [join(app, 'verdict'), '--version'], { encoding: 'utf8' })).toBe(
    `${version}\n`,
  )
})

describe('the manifests for Kubernetes', () => {
  const manifests = ['nodes', 'access'].flatMap(name =>
    parseAllDocuments(text(`deploy/kubernetes/${name}.yaml`)).map(document => document.toJS() as Manifest),
  )
  const of = (kind: string): Manifest[] => manifests.filter(manifest => manifest.kind === kind)
  const [nodes] = of('StatefulSet') as [Manifest]
  const pod = nodes.spec.template!.spec
  const [container] = pod.containers as [PodSpec['containers'][number]]

  test('contain only known settings, and mount the files of secrets', () => {
    const names = container.env.map(({ name }) => name)
    expect(names.filter(name => !known.includes(name))).toEqual([])
    const secrets = container.env.filter(({ name }) => name.endsWith('_FILE'))
    expect(secrets.map(({ name }) => name)).toEqual([
      'API_KEY_FILE',
      'ADMIN_API_KEY_FILE',
      'REDIS_PASSWORD_FILE',
    ])
    const mounts = container.volumeMounts.map(({ mountPath }) => `${mountPath}/`)
    for (const { value } of secrets) expect(mounts.some(mount => value.startsWith(mount))).toBe(true)
  })

  test('mount exactly the volumes that are declared', () => {
    const volumes = [...pod.volumes, ...nodes.spec.volumeClaimTemplates!.map(({ metadata }) => metadata)]
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      volumes.map(({ name }) => name).toSorted(),
    )
  })

  test('select the pods that they create', () => {
    const { labels } = nodes.spec.template!.metadata
    expect(nodes.spec.selector).toEqual({ matchLabels: labels })
    for (const { spec } of of('Service')) expect(spec.selector).toEqual(labels)
    expect(of('PodDisruptionBudget').map(({ spec }) => spec.selector)).toEqual([{ matchLabels: labels }])
    expect(of('Service').map(({ metadata }) => metadata.name)).toContain(nodes.spec.serviceName)
  })

  test('probe existing paths on the port of the service, and allow enough time for shutdown', async () => {
    const verdict = await startedService()
    const probes = Object.entries(container).filter(([name]) => name.endsWith('Probe'))
    expect(probes.map(([name]) => name).toSorted()).toEqual([
      'livenessProbe',
      'readinessProbe',
      'startupProbe',
    ])
    for (const [, probe] of probes) {
      const { path, port } = (probe as { httpGet: { path: string; port: string } }).httpGet
      expect([path, (await verdict.get(path)).status]).toEqual([path, 200])
      expect(container.ports.map(({ name }) => name)).toContain(port)
    }
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([settings.PORT.fallback()])
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(9)
  })

  test.skipIf(lacks('kubectl'))('are accepted by kubectl kustomize (skipped without kubectl)', () => {
    const built = execFileSync('kubectl', ['kustomize', join(deploy, 'kubernetes')], { encoding: 'utf8' })
    const kinds = parseAllDocuments(built).map(document => (document.toJS() as Manifest).kind)
    expect(kinds.toSorted()).toEqual(manifests.map(({ kind }) => kind).toSorted())
  })
})

describe('the systemd unit', () => {
  const unit = text('deploy/verdict.service')

  test('contains only known settings', () => {
    const lines = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs]) => pairs!.split(' '))
    const names = lines.map(pair => pair.split('=')[0]!).filter(name => !['NODE_ENV', 'PATH'].includes(name))
    expect(names.length).toBeGreaterThan(3)
    expect(names.filter(name => !known.includes(name))).toEqual([])
  })

  test.skipIf(lacks('systemd-analyze'))('is valid and sandboxed (skipped without systemd-analyze)', () => {
    const file = join(storeDirectory(), 'verdict.service')
    // systemd-analyze requires an existing program.
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect([verified.stderr, verified.status]).toEqual(['', 0])
    const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', file])
    expect(judged.status).toBe(0)
  })
})

describe.skipIf(lacks('promtool'))('the files of Prometheus (skipped without promtool)', () => {
  test.each([
    ['check', 'rules', 'alerts.yaml'],
    ['check', 'config', '--syntax-only', 'prometheus.yaml'],
    ['test', 'rules', 'alerts.test.yaml'],
  ])('are accepted by promtool %s %s %s', (...args) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: join(deploy, 'prometheus'),
      encoding: 'utf8',
    })
    expect(status, stdout + stderr).toBe(0)
  })
})

test('both balancer configurations retry the same requests', () => {
  const asks = (name: string) => /^ *acl asks .*$/m.exec(readFileSync(join(deploy, name), 'utf8'))![0]
  expect(asks('haproxy-tls.cfg')).toBe(asks('haproxy.cfg'))
})

describe.skipIf(lacks('haproxy') || lacks('openssl'))(
  'the balancer with TLS (skipped without haproxy or openssl)',
  () => {
    test('forwards requests to nodes that are ready, blocks metrics, and removes the name of the library', async () => {
      const certificates = makeCertificates()
      onTestFinished(() => certificates.remove())
      const pem = join(certificates.directory, 'balancer.pem')
      const part = (name: string) => readFileSync(join(certificates.directory, name), 'utf8')
      writeFileSync(pem, part('redis.crt') + part('redis.key'))
      const verdict = await startedService()
      const [port, unusedPort] = [await freePort(), await freePort()]
      const env = {
        ...process.env,
        BIND: `127.0.0.1:${port}`,
        CERTIFICATE: pem,
        NODE_1: new URL(verdict.address).host,
        NODE_2: `127.0.0.1:${unusedPort}`,
        NODE_3: `127.0.0.1:${unusedPort}`,
      }
      const balancer = spawn('haproxy', ['-db', '-f', join(deploy, 'haproxy-tls.cfg')], { env })
      let said = ''
      for (const output of [balancer.stdout, balancer.stderr])
        output.setEncoding('utf8').on('data', (line: string) => (said += line))
      const ended = once(balancer, 'exit')
      onTestFinished(async () => {
        balancer.kill('SIGKILL')
        await ended
      })
      const curl = (path: string) =>
        spawnSync(
          'curl',
          ['-s', '-i', '--cacert', certificates.authority, `https://127.0.0.1:${port}${path}`],
          {
            encoding: 'utf8',
          },
        ).stdout
      while (!curl('/ready').startsWith('HTTP/1.1 200')) {
        expect(balancer.exitCode, said).toBeNull()
        await pause()
      }
      const answer = curl('/healthy').toLowerCase()
      expect(answer).toContain('strict-transport-security: ')
      expect(answer).not.toContain('uwebsockets')
      expect((await fetch(`${verdict.address}/healthy`)).headers.has('uwebsockets')).toBe(true)
      expect(curl('/metrics')).toMatch(/^HTTP\/1\.1 404/)
      expect((await verdict.get('/metrics')).status).toBe(200)
    })
  },
)
