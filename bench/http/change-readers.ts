/**
 * Many readers of change streams in one process. They read only the creation time of an event. If a mode is
 * given, each reader has its own filter, and reads either everything (`read`) or nothing (`pause`). See
 * `changes.ts` and `change-floods.ts`.
 */
import { connect } from 'node:net'

const [, , port = '', key = '', count = '', mode = '', query = ''] = process.argv
const TIME = Buffer.from('"time":"')
const EVENT = Buffer.from('\nevent: ')
const TIME_LENGTH = 24

let isMeasuring = false
let [events, bytes] = [0, 0]
/**
 * Delays of changes. For each packet, the delay of its oldest change is used, which is the longest delay.
 * This delay is recorded once per ten changes in the packet.
 */
let delays: number[] = []
let open = 0
let cpuSeconds = 0

for (let n = 0; n < Number(count); n++) {
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `GET /v2/facts/default/default/changes${mode && `?kinds=${kindsOf(n)}${query}`} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  )
  let isOpen = false
  if (mode === 'pause') {
    socket.pause()
    if (++open === Number(count)) process.send!('open')
  }
  socket.on('data', packet => {
    if (!isOpen) {
      isOpen = true
      if (++open === Number(count)) process.send!('open')
    }
    if (!isMeasuring) return
    bytes += packet.length
    let inPacket = 0
    for (let at = packet.indexOf(EVENT); at >= 0; at = packet.indexOf(EVENT, at + EVENT.length)) inPacket++
    events += inPacket
    const at = packet.indexOf(TIME)
    if (at < 0 || at + TIME.length + TIME_LENGTH > packet.length) return
    const made = Date.parse(packet.toString('latin1', at + TIME.length, at + TIME.length + TIME_LENGTH))
    const delay = Date.now() - made
    for (let event = 0; event <= inPacket; event += 10) delays.push(delay)
  })
  socket.on('close', () => {
    process.stderr.write('a reader was sent away\n')
  })
}

/**
 * Kinds of changes in the filter of a reader: users, and other kinds according to the bits of its number.
 * Each reader thus has a different filter.
 */
function kindsOf(nth: number): string {
  const others = [
    'tenant',
    'role',
    'relation',
    'resource',
    'set_rule',
    'condition_set',
    'proxy_config',
    'user.deleted',
  ]
  return ['user', ...others.filter((_, bit) => (nth >> bit) & 1)].join(',')
}

/** The parent process disconnects when the measurement is over. */
process.on('disconnect', () => process.exit())
process.on('message', message => {
  isMeasuring = message === 'begin'
  const { user, system } = process.cpuUsage()
  if (message === 'end')
    process.send!({ events, bytes, delays, cpuSeconds: (user + system) / 1e6 - cpuSeconds })
  else {
    ;[events, bytes] = [0, 0]
    delays = []
    cpuSeconds = (user + system) / 1e6
  }
})
