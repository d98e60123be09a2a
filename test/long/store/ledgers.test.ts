/** Every other way in which a store in files is opened, against the contracts of tables and ledgers. */
import { describeKind, onJournal, onLmdb } from '../../store/embedded-ledgers.ts'
import { writeThread } from '../../store/journals.ts'

describeKind(onLmdb('lmdb'))
describeKind(onJournal('journal, checkpoints by another thread', writeThread()))
describeKind(onJournal('journal, a checkpoint by its own thread after every write', null, 1))
