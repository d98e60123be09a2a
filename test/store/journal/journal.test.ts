/** Journaled tables with a checkpoint after every write. `test/long` covers other variants. */
import { describeKind, onJournal } from '../embedded-ledgers.ts'
import { writeThread } from './journals.ts'

describeKind(onJournal('journal, a checkpoint after every write', writeThread(), 1))
